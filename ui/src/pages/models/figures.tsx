import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { originInWords, perMillion, perToken } from '#ui/format/model-words.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';

type Option = Shape<'ModelOption'>;

export interface FiguresDialogProps {
  readonly option: Option;
  readonly onClose: () => void;
}

/** Enters unknown figures by hand. Figures of the server or the operator cannot be changed here. */
export function FiguresDialog({ option, onClose }: FiguresDialogProps) {
  const { modelId, name, figures } = option;
  const form = useForm({ defaultValues: textsOf(option) });
  const { errors, dirtyFields, isDirty } = form.formState;
  const save = useSend('patch', '/v1/model-figures', {
    refreshes: ['/v1/models'],
    done: 'Figures saved',
    showsError: true,
  });
  const submit = async (values: ReturnType<typeof textsOf>) => {
    const { input, output, cachedInput } = values;
    const pricesChanged = dirtyFields.input ?? dirtyFields.output ?? dirtyFields.cachedInput;
    const empty = [input, output, cachedInput].every((text) => text.trim() === '');
    await save.sendAsync({
      body: {
        modelId,
        ...(dirtyFields.contextTokens && { contextTokens: numberOf(values.contextTokens) }),
        ...(dirtyFields.maxOutputTokens && { maxOutputTokens: numberOf(values.maxOutputTokens) }),
        ...(pricesChanged && {
          prices: empty
            ? null
            : {
                input: perToken(input),
                output: perToken(output),
                cachedInput: cachedInput.trim() === '' ? null : perToken(cachedInput),
              },
        }),
      },
    });
    onClose();
  };
  const arePricesKnown = isBetter(figures.prices);
  const fieldOf = (label: string, name: keyof ReturnType<typeof textsOf>, origin: Origin) => (
    <Field
      label={label}
      optional={!isBetter(origin)}
      error={errors[name]?.message}
      description={name in figures && isBetter(origin) ? inWords(origin) : undefined}
    >
      <Input {...form.register(name)} readOnly={isBetter(origin)} inputMode="decimal" autoComplete="off" />
    </Field>
  );
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={`Figures of ${name}`}
      description="These figures apply to all projects of the organization. An empty field removes its figure."
      form={form}
      onSubmit={submit}
      action="Save"
      disabledReason={isDirty ? undefined : 'Nothing has changed.'}
      names={{
        'prices.input': 'input',
        'prices.output': 'output',
        'prices.cachedInput': 'cachedInput',
        prices: 'input',
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {fieldOf('Context window, in tokens', 'contextTokens', figures.contextTokens)}
        {fieldOf('Output limit, in tokens', 'maxOutputTokens', figures.maxOutputTokens)}
      </div>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 text-sm text-muted">
          US dollars for a million tokens{arePricesKnown && `. ${inWords(figures.prices)}`}
        </legend>
        <div className="grid gap-4 sm:grid-cols-3">
          {fieldOf('Input', 'input', figures.prices)}
          {fieldOf('Output', 'output', figures.prices)}
          {fieldOf('Cached input', 'cachedInput', figures.prices)}
        </div>
      </fieldset>
    </FormDialog>
  );
}

type Origin = Option['figures']['prices'];

/** Tells whether a figure has a better source than a person. */
function isBetter(origin: Origin): boolean {
  return origin !== null && origin !== 'by_hand' && origin !== 'catalogue';
}

function inWords(origin: Origin): string {
  return `${capitalized(originInWords(origin) ?? '')}.`;
}

function textsOf({ contextTokens, maxOutputTokens, prices }: Option) {
  const { input, output, cachedInput } = prices ?? {};
  return {
    contextTokens: contextTokens?.toString() ?? '',
    maxOutputTokens: maxOutputTokens?.toString() ?? '',
    input: input === undefined ? '' : perMillion(input),
    output: output === undefined ? '' : perMillion(output),
    cachedInput: cachedInput == null ? '' : perMillion(cachedInput),
  };
}

/** Reads "128,000"; null for an empty text. Any other text is sent unchanged, so that the server refuses it. */
function numberOf(text: string): number | null {
  const digits = text.replaceAll(/[\s,]/g, '');
  if (digits === '') return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server names the fault
  return /^\d+$/.test(digits) ? Number(digits) : (text as unknown as number);
}
