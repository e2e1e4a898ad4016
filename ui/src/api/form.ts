import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form';
import { ApiError } from './error.ts';

/**
 * Puts what the server found wrong at the fields of a form; the server is the only validator. What has no field is put
 * at the form as a whole: show `form.formState.errors.root`, which `<FormError>` does.
 * @param names where the server's path has another name in the form: `{ 'model.modelId': 'model' }`
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
      message: homeless.map(sentence).join(' '),
    });
  }
}

/** `skills[0].id` is a fault of `skills` where the form has no such part. */
function fieldOf<Values extends FieldValues>(
  path: string,
  values: Values,
): FieldPath<Values> | undefined {
  const parts = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  const top = parts[0] ?? '';
  if (!Object.hasOwn(values, top)) return undefined;
  const value: unknown = values[top];
  const whole = parts.join('.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above to be a field of the form
  return (typeof value === 'object' && value !== null ? whole : top) as FieldPath<Values>;
}

/** The server's faults are phrases; a form shows sentences. */
export function sentence(text: string): string {
  const whole = text.trim();
  const end = /[.!?]$/.test(whole) ? '' : '.';
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${end}`;
}
