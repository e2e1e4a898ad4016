import { useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { objectIn, type RoutineForm } from './form.ts';
import { messageAt } from './value-field.tsx';

/** A result that is data by a schema, and what tells the items of a list in it apart. */
export function TypedResult() {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const [schema, key] = watch(['resultSchema', 'resultKey']);
  const [text, setText] = useState(() => (schema === null ? '' : JSON.stringify(schema, null, 2)));
  const isJson = text.trim() === '' || objectIn(text) !== undefined;
  const { errors } = formState;
  return (
    <>
      <Field
        label={labelOf('resultSchema')}
        optional
        description="A JSON Schema. The last message of a run then has to be JSON by it, and is kept as data."
        error={
          isJson
            ? messageAt(errors, 'resultSchema')
            : 'This is not a JSON object yet, so the last one that was is kept.'
        }
      >
        <Textarea
          mono
          rows={5}
          spellCheck={false}
          placeholder={'{ "type": "object" }'}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const parsed = target.value.trim() === '' ? null : objectIn(target.value);
            if (parsed !== undefined) setValue('resultSchema', parsed, { shouldDirty: true });
          }}
        />
      </Field>
      {(schema !== null || key !== null) && (
        <Checkbox
          label="Compare the items of a list"
          description="By what tells them apart, so that neither their order nor the rest of the data counts as a change."
          checked={key !== null}
          onChange={(on) =>
            setValue('resultKey', on ? { list: '/items', key: '/id' } : null, { shouldDirty: true })
          }
        />
      )}
      {key !== null && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field
            label="The list"
            description="A JSON Pointer into the data."
            error={messageAt(errors, 'resultKey.list') ?? messageAt(errors, 'resultKey')}
          >
            <Input
              className="font-mono"
              value={key.list}
              onChange={({ target }) =>
                setValue('resultKey', { ...key, list: target.value }, { shouldDirty: true })
              }
            />
          </Field>
          <Field
            label="Told apart by"
            description="A JSON Pointer into an item."
            error={messageAt(errors, 'resultKey.key')}
          >
            <Input
              className="font-mono"
              value={key.key}
              onChange={({ target }) =>
                setValue('resultKey', { ...key, key: target.value }, { shouldDirty: true })
              }
            />
          </Field>
        </div>
      )}
    </>
  );
}
