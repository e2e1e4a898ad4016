import { useFormContext } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import {
  declared,
  listInWords,
  OTHER_FIELDS,
  type RoutineField,
} from '#ui/parts/routine-fields.ts';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Gate } from './gate.tsx';
import { Group } from './group.tsx';
import { Limits } from './limits.tsx';
import { Results } from './results.tsx';
import { Timing } from './timing.tsx';
import { Told } from './told.tsx';
import { messageAt, NumberField, TextField } from './value-field.tsx';

/** Edits the settings that most people leave as they are; loaded after the fields that they write. */
export default function Settings({
  routine,
}: {
  readonly routine: Shape<'RoutineDetail'> | undefined;
}) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Results />
      <Gate routineId={routine?.id} />
      <Limits />
      <Timing />
      <Told mailDelivery={routine?.mailDelivery} />
      {OTHER_FIELDS.length > 0 && (
        <Group title="More" summary={listInWords(OTHER_FIELDS.map((name) => declared(name).label))}>
          {OTHER_FIELDS.map((name) => (
            <PlainField key={name} name={name} />
          ))}
        </Group>
      )}
    </div>
  );
}

/** Edits a field by its kind, in the words of its declaration. */
function PlainField({ name }: { name: RoutineField }) {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const { label, help, kind, ...field } = declared(name);
  const value: unknown = watch(name);
  const change = (next: string | boolean) => setValue(name, next, { shouldDirty: true });
  const shown = { name, description: help, optional: field.default === null };
  switch (kind) {
    case 'boolean':
      return (
        <Checkbox label={label} description={help} checked={value === true} onChange={change} />
      );
    case 'number':
      return <NumberField {...shown} />;
    case 'string':
      return <TextField {...shown} />;
    default:
      return (
        <Field label={label} description={help} error={messageAt(formState.errors, name)}>
          <Select
            options={choicesOf(kind).map((each) => ({ value: each, label: each }))}
            value={typeof value === 'string' ? value : null}
            onChange={change}
          />
        </Field>
      );
  }
}

function choicesOf(kind: string | readonly string[] | undefined): readonly string[] {
  return typeof kind === 'string' || kind === undefined ? [] : kind;
}
