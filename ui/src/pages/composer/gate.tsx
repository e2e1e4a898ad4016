import { useFormContext } from 'react-hook-form';
import { plural } from '#ui/format/numbers.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { numberOrNull, type RoutineForm } from './form.ts';
import { Group } from './group.tsx';
import { messageAt } from './value-field.tsx';
import { ToolGate, type GateValue } from './tool-gate.tsx';

const BLANK: GateValue = {
  tool: null,
  url: null,
  pointers: [],
  wakeOn: 'changed',
  maxQuietHours: null,
};

/** Edits what a scheduled run looks at before it wakes its model. */
export function Gate({ routineId }: { readonly routineId: string | undefined }) {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const gate = watch('gate');
  const { errors } = formState;
  const change = (next: GateValue | null) => setValue('gate', next, { shouldDirty: true });
  const kind = gate === null ? 'always' : gate.tool === null ? 'url' : 'tool';
  return (
    <Group title="Gate" summary={summaryOf(gate)}>
      <RadioCards
        label="Before the model is woken"
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
          { value: 'always', label: 'No gate', description: 'Every run wakes the model.' },
          { value: 'url', label: 'An address', description: 'Costs no tokens.' },
          {
            value: 'tool',
            label: 'A tool',
            description: 'One that only reads.',
            disabled: routineId === undefined,
          },
        ]}
      />
      {routineId === undefined && (
        <p className="-mt-3 text-sm text-muted">A tool can be asked once the routine has tools.</p>
      )}
      {gate !== null && (
        <>
          {gate.tool === null ? (
            <Field
              label="Address"
              description="Read by GET before each scheduled run; without credentials."
              error={messageAt(errors, 'gate.url') ?? messageAt(errors, 'gate')}
            >
              <Input
                placeholder="https://example.com/feed.json"
                value={gate.url ?? ''}
                onChange={({ target }) => change({ ...gate, url: target.value })}
              />
            </Field>
          ) : (
            routineId !== undefined && (
              <ToolGate routineId={routineId} gate={gate} onChange={change} />
            )
          )}
          <RadioCards
            label="When the model is woken"
            columns={2}
            value={gate.wakeOn}
            onChange={(wakeOn) => change({ ...gate, wakeOn })}
            options={[
              {
                value: 'changed',
                label: 'When it has changed',
                description: 'Since the last good run saw it.',
              },
              {
                value: 'not_empty',
                label: 'When it is not empty',
                description: 'Not null, false, 0, blank, or an empty list.',
              },
            ]}
          />
          <Field
            label="Only these parts"
            optional
            description="JSON Pointers, one a line; the whole response without one."
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
            label="Wake it anyway"
            optional
            description="After so long without a run that woke its model."
            error={messageAt(errors, 'gate.maxQuietHours')}
          >
            <div className="flex items-center gap-2">
              <Input
                inputMode="numeric"
                placeholder="Never"
                className="max-w-40 tabular"
                defaultValue={gate.maxQuietHours ?? ''}
                onChange={({ target }) =>
                  change({ ...gate, maxQuietHours: numberOrNull(target.value) })
                }
              />
              <span className="text-sm text-muted">hours</span>
            </div>
          </Field>
        </>
      )}
    </Group>
  );
}

function summaryOf(gate: GateValue | null): string {
  if (gate === null) return 'Every run wakes the model';
  const what = gate.tool === null ? 'an address' : 'a tool';
  const when = gate.wakeOn === 'changed' ? 'has changed' : 'is not empty';
  const parts = gate.pointers.length === 0 ? '' : `, ${plural(gate.pointers.length, 'part')} of it`;
  return `Only when ${what} ${when}${parts}`;
}
