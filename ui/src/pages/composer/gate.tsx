import { useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { useList } from '#ui/api/read.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { numberOrNull, objectIn, type RoutineForm } from './form.ts';
import { Group } from './group.tsx';
import { messageAt } from './value-field.tsx';

const BLANK: GateValue = {
  tool: null,
  url: null,
  pointers: [],
  wakeOn: 'changed',
  maxQuietHours: null,
};

/** Edits the gate: what a scheduled run asks before it wakes its model. */
export function Gate({ routineId }: { readonly routineId: string | undefined }) {
  const { setValue, formState } = useFormContext<RoutineForm>();
  const gate = useWatch<RoutineForm, 'gate'>({ name: 'gate' });
  const { errors } = formState;
  const change = (next: GateValue | null) => setValue('gate', next, { shouldDirty: true });
  const kind = gate === null ? 'always' : gate.tool === null ? 'url' : 'tool';
  return (
    <Group title="Checked before it runs">
      <RadioCards
        label="Before the model is asked"
        columns={3}
        value={kind}
        onChange={(next) => {
          if (next === 'always') change(null);
          else if (next === 'url') change({ ...BLANK, ...gate, tool: null, url: gate?.url ?? '' });
          else
            change({
              ...BLANK,
              ...gate,
              url: null,
              tool: gate?.tool ?? { policyId: '', arguments: {} },
            });
        }}
        options={[
          { value: 'always', label: 'Nothing', description: 'Every run asks the model.' },
          { value: 'url', label: 'An address', description: 'Costs no tokens.' },
          {
            value: 'tool',
            label: 'A tool',
            description: 'A tool that only reads.',
            disabled: routineId === undefined,
          },
        ]}
      />
      {routineId === undefined && (
        <p className="-mt-3 text-sm text-muted">To ask a tool, give the routine tools first.</p>
      )}
      {gate !== null && (
        <>
          {gate.tool === null ? (
            <Field
              label="Address"
              description="Each scheduled run first reads this address by GET, without credentials."
              error={messageAt(errors, 'gate.url') ?? messageAt(errors, 'gate')}
            >
              <Input
                placeholder="https://example.com/feed.json"
                value={gate.url ?? ''}
                onChange={({ target }) => change({ ...gate, url: target.value })}
              />
            </Field>
          ) : (
            routineId !== undefined && <ToolGate routineId={routineId} gate={gate} onChange={change} />
          )}
          <RadioCards
            label="When the model is asked"
            columns={2}
            value={gate.wakeOn}
            onChange={(wakeOn) => change({ ...gate, wakeOn })}
            options={[
              {
                value: 'changed',
                label: 'When the value has changed',
                description: 'Compared with the value that the last good run saw.',
              },
              {
                value: 'not_empty',
                label: 'When the value is not empty',
                description: 'Not null, false, 0, blank, or an empty list.',
              },
            ]}
          />
          <Field
            label="Only these parts"
            optional
            description="JSON Pointers, one a line. Leave this empty to check the whole response."
            error={messageAt(errors, 'gate.pointers')}
          >
            <Textarea
              mono
              rows={2}
              placeholder="/items"
              defaultValue={gate.pointers.join('\n')}
              onChange={({ target }) =>
                change({
                  ...gate,
                  pointers: target.value.split('\n').filter((line) => line !== ''),
                })
              }
            />
          </Field>
          <Field
            label="Ask the model anyway"
            optional
            description="If no run has asked the model for this time, the next run asks it in any case."
            error={messageAt(errors, 'gate.maxQuietHours')}
          >
            <div className="flex items-center gap-2">
              <Input
                inputMode="numeric"
                placeholder="Never"
                className="max-w-40 tabular"
                defaultValue={gate.maxQuietHours ?? ''}
                onChange={({ target }) => change({ ...gate, maxQuietHours: numberOrNull(target.value) })}
              />
              <span className="text-sm text-muted">hours</span>
            </div>
          </Field>
        </>
      )}
    </Group>
  );
}

type GateValue = NonNullable<RoutineForm['gate']>;

/** Edits the call of a tool that a gate makes. */
function ToolGate({
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
        error={messageAt(formState.errors, 'gate.tool.policyId') ?? messageAt(formState.errors, 'gate.tool')}
      >
        <Select
          options={ready.map(({ id, title, name }) => ({ value: id, label: title ?? name }))}
          value={gate.tool?.policyId ?? null}
          onChange={(policyId) => onChange({ ...gate, tool: { policyId, arguments: gate.tool?.arguments ?? {} } })}
        />
      </Field>
      <Field
        label="Arguments"
        description="A JSON object."
        error={
          isJson
            ? messageAt(formState.errors, 'gate.tool.arguments')
            : 'This is not a JSON object yet, so the last valid one is kept.'
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
