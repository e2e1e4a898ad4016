import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form';
import { sentence } from '#ui/format/capitalized.ts';
import { ApiError } from './error.ts';

/**
 * Shows the server's faults at the fields of a form; the server is the only validator. A fault without a field is shown
 * at the form as a whole, by `form.formState.errors.root` and `<FormError>`.
 * @param names maps the server's paths to those of the form: `{ 'model.modelId': 'model' }`
 */
export function showFaults<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  error: unknown,
  names: Readonly<Record<string, FieldPath<Values>>> = {},
): void {
  if (!(error instanceof ApiError)) throw error;
  const values = form.getValues();
  const homeless: string[] = [];
  let focused = false;
  for (const { path, message } of error.faults) {
    const name = names[path] ?? fieldOf<Values>(path, values);
    if (name === undefined) {
      homeless.push(`${path}: ${message}`);
      continue;
    }
    form.setError(name, { type: 'server', message: sentence(message) }, { shouldFocus: !focused });
    focused = true;
  }
  if (error.faults.length === 0) homeless.push(error.message);
  if (homeless.length > 0) {
    form.setError('root', {
      type: error.code,
      message: withRequest(homeless.map(sentence).join(' '), error),
    });
  }
}

/** Returns a submit handler that shows the server's faults in the form. */
export function submitTo<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  send: (values: Values) => Promise<unknown>,
  names?: Readonly<Record<string, FieldPath<Values>>>,
) {
  return form.handleSubmit(async (values) => {
    try {
      await send(values);
    } catch (error) {
      showFaults(form, error, names);
    }
  });
}

/** Finds the field of a path. A fault of `skills[0].id` belongs to `skills` if the form has no such part. */
function fieldOf<Values extends FieldValues>(path: string, values: Values): FieldPath<Values> | undefined {
  // Drop `patch`, below which a proposal names its fields.
  const parts = path
    .replace(/^patch\./, '')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.');
  const top = parts[0] ?? '';
  if (!Object.hasOwn(values, top)) return undefined;
  const value: unknown = values[top];
  const whole = parts.join('.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above to be a field of the form
  return (typeof value === 'object' && value !== null ? whole : top) as FieldPath<Values>;
}

/** Shows the message of the service, with the request id on a line of its own for the operator. */
export function errorInWords(error: Pick<ApiError, 'message' | 'requestId'>): string;
export function errorInWords(error: Pick<ApiError, 'message' | 'requestId'> | null | undefined): string | undefined;
export function errorInWords(error: Pick<ApiError, 'message' | 'requestId'> | null | undefined) {
  return error == null ? undefined : withRequest(sentence(error.message), error);
}

function withRequest(words: string, { requestId }: Pick<ApiError, 'requestId'>): string {
  return requestId === undefined ? words : `${words}\nRequest ${requestId}`;
}
