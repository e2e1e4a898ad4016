import { useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { useList } from '#ui/api/read.ts';
import { Field } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { objectIn, type RoutineForm } from './form.ts';
import { messageAt } from './value-field.tsx';

export type GateValue = NonNullable<RoutineForm['gate']>;

/** Edits the call of a tool that a gate makes. */
export function ToolGate({
  routineId,
  gate,
  onChange,
}: {
  routineId: string;
  gate: GateValue;
  onChange: (gate: GateValue) => void;
}) {
  const { formState } = useFormContext<RoutineForm>();
  const tools = useList('/v1/routines/{routineId}/tools', {
    path: { routineId },
    query: { limit: 200 },
  });
  const [text, setText] = useState(() => JSON.stringify(gate.tool?.arguments ?? {}, null, 2));
  const [isJson, setIsJson] = useState(true);
  const ready = (tools.data ?? []).filter(
    ({ state, annotations }) => state === 'automatic' && annotations?.['readOnlyHint'] === true,
  );
  return (
    <>
      <Field
        label="Tool"
        description={
          tools.data !== undefined && ready.length === 0
            ? 'This routine has no confirmed tool yet. Confirm one on its tools page first.'
            : 'A confirmed tool of this routine that only reads.'
        }
        error={
          messageAt(formState.errors, 'gate.tool.policyId') ??
          messageAt(formState.errors, 'gate.tool')
        }
      >
        <Select
          options={ready.map(({ id, title, name }) => ({ value: id, label: title ?? name }))}
          value={gate.tool?.policyId ?? null}
          onChange={(policyId) =>
            onChange({ ...gate, tool: { policyId, arguments: gate.tool?.arguments ?? {} } })
          }
        />
      </Field>
      <Field
        label="Arguments"
        description="A JSON object."
        error={
          isJson
            ? messageAt(formState.errors, 'gate.tool.arguments')
            : 'This is not a JSON object yet, so the last one that was is kept.'
        }
      >
        <Textarea
          mono
          rows={4}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const parsed = objectIn(target.value);
            setIsJson(parsed !== undefined);
            if (parsed !== undefined) {
              onChange({
                ...gate,
                tool: { policyId: gate.tool?.policyId ?? '', arguments: parsed },
              });
            }
          }}
        />
      </Field>
    </>
  );
}
