import { useState } from 'react';
import { get, useFormContext, useWatch, type FieldPath } from 'react-hook-form';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { choicesOf, declared, labelOf } from '#ui/parts/routine-fields.ts';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox, RadioCards } from '#ui/parts/toggles.tsx';
import { numberOrNull, textOrNull, type RoutineForm } from './form.ts';

export interface FieldOfProps {
  readonly name: FieldPath<RoutineForm>;
  /** Shows the values of a choice side by side, each with its explanation. */
  readonly cards?: boolean;
}

/** Chooses the input for the kind of a field, or of a part of one, with the label that the field declares. */
export function FieldOf({ name, cards = false }: FieldOfProps) {
  const { kind, unit } = declared(name) ?? {};
  if (unit === 'seconds') return <TimeSpan name={name} />;
  if (kind === 'boolean') return <YesOrNo name={name} />;
  if (kind === 'string' || kind === 'number' || kind === undefined) return <Written name={name} />;
  return <Choice name={name} cards={cards} />;
}

/** Edits a text or a number. An empty field means no value or no limit. */
function Written({ name }: FieldOfProps) {
  const { register } = useFormContext<RoutineForm>();
  const { kind, unit, placeholder, help, default: unset } = declared(name) ?? BARE;
  const read = kind === 'number' ? numberOrNull : unset === null ? textOrNull : textIn;
  return (
    <Field label={labelOf(name)} description={help} optional={unset === null} error={useMessageAt(name)}>
      <div className="flex items-center gap-2">
        <Input
          inputMode={kind === 'number' ? 'decimal' : undefined}
          placeholder={placeholder}
          className={unit === undefined ? undefined : 'max-w-32 tabular'}
          {...register(name, { setValueAs: read })}
        />
        {unit !== undefined && <span className="text-sm whitespace-nowrap text-muted">{unit}</span>}
      </div>
    </Field>
  );
}

const BARE: Partial<NonNullable<ReturnType<typeof declared>>> = {};

function textIn(written: unknown): unknown {
  return written;
}

const UNITS = [
  { value: 'hours', label: 'hours', seconds: 3_600 },
  { value: 'minutes', label: 'minutes', seconds: 60 },
  { value: 'seconds', label: 'seconds', seconds: 1 },
] as const;

type Unit = (typeof UNITS)[number];

/** Edits seconds as hours or minutes if they are whole in that unit. Choosing another unit keeps the number. */
function TimeSpan({ name }: FieldOfProps) {
  const { setValue } = useFormContext<RoutineForm>();
  const value: unknown = useWatch<RoutineForm>({ name });
  const [written, setWritten] = useState<{ readonly text: string; readonly unit: Unit }>();
  // Show the form's value if it has changed since, for example by another user's save.
  const shown = written !== undefined && Object.is(secondsIn(written), value) ? written : spanOf(value);
  const write = (next: typeof shown) => {
    setWritten(next);
    setValue(name, secondsIn(next), { shouldDirty: true });
  };
  return (
    <Field label={labelOf(name)} description={declared(name)?.help} error={useMessageAt(name)}>
      <div className="flex items-center gap-2">
        <Input
          inputMode="decimal"
          className="max-w-24 tabular"
          value={shown.text}
          onChange={({ target }) => write({ ...shown, text: target.value })}
        />
        <Field label={`Unit of ${labelOf(name).toLowerCase()}`} labelHidden className="w-28">
          <Select
            options={UNITS}
            value={shown.unit.value}
            onChange={(next) => write({ ...shown, unit: UNITS.find((each) => each.value === next) ?? shown.unit })}
          />
        </Field>
      </div>
    </Field>
  );
}

function secondsIn({ text, unit }: { readonly text: string; readonly unit: Unit }): number | null {
  const count = numberOrNull(text);
  return count === null ? null : Math.round(count * unit.seconds);
}

function spanOf(value: unknown): { readonly text: string; readonly unit: Unit } {
  const [, minutes, seconds] = UNITS;
  if (typeof value !== 'number' || value === 0) return { text: value === 0 ? '0' : '', unit: minutes };
  const unit = UNITS.find((each) => value % each.seconds === 0) ?? seconds;
  return { text: String(value / unit.seconds), unit };
}

function YesOrNo({ name }: FieldOfProps) {
  const { setValue } = useFormContext<RoutineForm>();
  const value: unknown = useWatch<RoutineForm>({ name });
  const change = (next: boolean) => setValue(name, next, { shouldDirty: true });
  return (
    <Checkbox label={labelOf(name)} description={declared(name)?.help} checked={value === true} onChange={change} />
  );
}

function Choice({ name, cards }: FieldOfProps) {
  const { setValue } = useFormContext<RoutineForm>();
  const value: unknown = useWatch<RoutineForm>({ name });
  const error = useMessageAt(name);
  const change = (next: string) => setValue(name, next, { shouldDirty: true });
  const options = choicesOf(name);
  if (cards === true) {
    return (
      <div className="flex flex-col gap-2">
        <p className="text-sm font-medium text-ink">{labelOf(name)}</p>
        <RadioCards label={labelOf(name)} columns={2} value={String(value)} onChange={change} options={options} />
      </div>
    );
  }
  return (
    <Field label={labelOf(name)} description={declared(name)?.help} className="max-w-80" error={error}>
      <Select
        options={options.map(({ description, ...option }) => ({ ...option, hint: description }))}
        value={typeof value === 'string' ? value : null}
        onChange={change}
      />
    </Field>
  );
}

export function useMessageAt(name: string): string | undefined {
  return messageAt(useFormContext<RoutineForm>().formState.errors, name);
}

/** Finds the message of the error at a path of the form. */
export function messageAt(errors: object, name: string): string | undefined {
  const message: unknown = get(errors, `${name}.message`);
  return typeof message === 'string' ? message : undefined;
}
