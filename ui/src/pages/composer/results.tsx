import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { objectIn, type RoutineForm } from './form.ts';
import { Group, Part } from './group.tsx';
import { FieldOf, messageAt } from './value-field.tsx';

type Check = RoutineForm['checks'][number];

const CHECKS: readonly { readonly value: Check['type']; readonly label: string }[] = [
  { value: 'result_not_empty', label: 'The result is not empty' },
  { value: 'result_matches', label: 'The result matches' },
  { value: 'result_does_not_match', label: 'The result does not match' },
  { value: 'distinct_sources', label: 'The result names different sources' },
  { value: 'tool_succeeded', label: 'A tool succeeded' },
  { value: 'no_refused_calls', label: 'No tool call was refused' },
];

/** Edits the checks that code makes on a result. */
export function Results() {
  const { setValue, formState } = useFormContext<RoutineForm>();
  const outcome = useWatch<RoutineForm, 'outcome'>({ name: 'outcome' });
  const checks = useWatch<RoutineForm, 'checks'>({ name: 'checks' });
  const { errors } = formState;
  const change = (next: readonly Check[]) => setValue('checks', [...next], { shouldDirty: true });
  return (
    <Group title="Results">
      <Part title="What a run is given">
        <FieldOf name="carryResult" />
        <FieldOf name="facts" />
      </Part>
      <Part title="What a run has to end with">
        <Checkbox
          label="Each run has to state its outcome"
          description="Done, nothing to report, partly done, or could not. A run without an outcome fails, so that a quiet run is not mistaken for a broken one."
          checked={outcome === 'required'}
          onChange={(required) => setValue('outcome', required ? 'required' : 'optional', { shouldDirty: true })}
        />
        <TypedResult />
      </Part>
      <Part title="Checks" description="Code looks at the result. A run that does not pass all checks fails.">
        {checks.map((check, index) => (
          <CheckRow
            key={index}
            check={check}
            error={
              messageAt(errors, `checks.${index}`) ??
              messageAt(errors, `checks.${index}.pattern`) ??
              messageAt(errors, `checks.${index}.atLeast`) ??
              messageAt(errors, `checks.${index}.tool`)
            }
            onChange={(next) => change(checks.with(index, next))}
            onRemove={() => change(checks.filter((_, other) => other !== index))}
          />
        ))}
        <div>
          <Button
            size="sm"
            icon={Plus}
            disabledReason={checks.length >= 10 ? 'A routine has at most ten checks.' : undefined}
            onClick={() => change([...checks, { type: 'result_not_empty' }])}
          >
            Add check
          </Button>
        </div>
      </Part>
    </Group>
  );
}

function CheckRow({
  check,
  error,
  onChange,
  onRemove,
}: {
  check: Check;
  error: string | undefined;
  onChange: (check: Check) => void;
  onRemove: () => void;
}) {
  return (
    <Field label="Check" labelHidden error={error}>
      <div className="flex flex-wrap items-center gap-2">
        <Select
          label="What is checked"
          className="sm:w-60!"
          options={CHECKS}
          value={check.type}
          onChange={(type) => onChange(blank(type))}
        />
        {'pattern' in check && (
          <Input
            aria-label="Pattern"
            placeholder="^## Findings"
            spellCheck={false}
            className="min-w-40 flex-1 font-mono text-sm"
            value={check.pattern}
            onChange={({ target }) => onChange({ ...check, pattern: target.value })}
          />
        )}
        {check.type === 'tool_succeeded' && (
          <Input
            aria-label="Tool"
            placeholder="search"
            className="min-w-32 flex-1"
            value={check.tool}
            onChange={({ target }) => onChange({ ...check, tool: target.value })}
          />
        )}
        {'atLeast' in check && (
          <span className="flex items-center gap-2 text-sm whitespace-nowrap text-muted">
            at least
            <Input
              aria-label="At least"
              type="number"
              min={1}
              max={100}
              className="w-16"
              value={Number.isNaN(check.atLeast) ? '' : check.atLeast}
              onChange={({ target }) => onChange({ ...check, atLeast: target.valueAsNumber })}
            />
          </span>
        )}
        <IconButton icon={X} label="Remove check" size="sm" onClick={onRemove} />
      </div>
    </Field>
  );
}

function blank(type: Check['type']): Check {
  switch (type) {
    case 'result_matches':
    case 'result_does_not_match':
      return { type, pattern: '' };
    case 'distinct_sources':
      return { type, atLeast: 3 };
    case 'tool_succeeded':
      return { type, tool: '', atLeast: 1 };
    default:
      return { type };
  }
}

/** Edits the schema of a result that is data, and the key by which the items of its list are told apart. */
function TypedResult() {
  const { setValue, formState } = useFormContext<RoutineForm>();
  const schema = useWatch<RoutineForm, 'resultSchema'>({ name: 'resultSchema' });
  const key = useWatch<RoutineForm, 'resultKey'>({ name: 'resultKey' });
  const [text, setText] = useState(() => (schema === null ? '' : JSON.stringify(schema, null, 2)));
  const isJson = text.trim() === '' || objectIn(text) !== undefined;
  const { errors } = formState;
  return (
    <>
      <Field
        label={labelOf('resultSchema')}
        optional
        description="A JSON Schema. Each run then has to end with JSON that fits the schema. The JSON is kept as data."
        error={
          isJson ? messageAt(errors, 'resultSchema') : 'This is not a JSON object yet, so the last valid one is kept.'
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
          description="Match items by an id, so a new order is not a change."
          checked={key !== null}
          onChange={(on) => setValue('resultKey', on ? { list: '/items', key: '/id' } : null, { shouldDirty: true })}
        />
      )}
      {key !== null && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field
            label="The list"
            description="A JSON Pointer from the data to the list."
            error={messageAt(errors, 'resultKey.list') ?? messageAt(errors, 'resultKey')}
          >
            <Input
              className="font-mono"
              value={key.list}
              onChange={({ target }) => setValue('resultKey', { ...key, list: target.value }, { shouldDirty: true })}
            />
          </Field>
          <Field
            label="Unique id"
            description="A JSON Pointer from an item to its id."
            error={messageAt(errors, 'resultKey.key')}
          >
            <Input
              className="font-mono"
              value={key.key}
              onChange={({ target }) => setValue('resultKey', { ...key, key: target.value }, { shouldDirty: true })}
            />
          </Field>
        </div>
      )}
    </>
  );
}
