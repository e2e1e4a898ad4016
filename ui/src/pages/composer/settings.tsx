import { useFormContext, useWatch, type FieldPath } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { OTHER_FIELDS } from '#ui/parts/routine-fields.ts';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Gate } from './gate.tsx';
import { Group, Part } from './group.tsx';
import { Results } from './results.tsx';
import { Timing } from './timing.tsx';
import { Told } from './told.tsx';
import { FieldOf } from './value-field.tsx';

/** Edits the settings that most people leave unchanged. Its code loads after the main fields. */
export default function Settings({ routine }: { readonly routine: Shape<'RoutineDetail'> | undefined }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Results />
      <Gate routineId={routine?.id} />
      <Limits />
      <Timing />
      <Told mailDelivery={routine?.mailDelivery} />
      <AskingPeople />
      {OTHER_FIELDS.length > 0 && (
        <Group title="More">
          {OTHER_FIELDS.map((name) => (
            <FieldOf key={name} name={name} />
          ))}
        </Group>
      )}
    </div>
  );
}

const RUN_LIMITS = [
  'limits.maxSteps',
  'limits.timeoutSeconds',
  'limits.maxTotalTokens',
  'limits.maxOutputTokens',
] as const;
const BUDGETS = ['budget.maxCostUsdPerMonth', 'budget.maxTokensPerDay'] as const;
const STOPS = ['limits.abnormalFactor', 'pauseAfterFailures'] as const;

/** Edits the limits of one run, and of all runs together. */
function Limits() {
  const { setValue } = useFormContext<RoutineForm>();
  const tools = useWatch<RoutineForm, 'builtInTools'>({ name: 'builtInTools' });
  return (
    <Group title="Limits">
      <Part title="One run">
        <Pairs of={RUN_LIMITS} />
        <Checkbox
          label="May calculate"
          description="A built-in tool for exact arithmetic, rates, trends and lists of differences."
          checked={tools.includes('calculate')}
          onChange={(on) => setValue('builtInTools', on ? ['calculate'] : [], { shouldDirty: true })}
        />
      </Part>
      <Part title="All runs together">
        <Pairs of={BUDGETS} />
      </Part>
      <Part title="When something goes wrong">
        <Pairs of={STOPS} />
      </Part>
    </Group>
  );
}

/** Edits whether runs may ask people, and what follows an answer or an approval. */
function AskingPeople() {
  const mayAsk = useWatch<RoutineForm, 'mayAsk'>({ name: 'mayAsk' });
  return (
    <Group title="Asking people">
      <FieldOf name="mayAsk" />
      {mayAsk && <FieldOf name="afterAnswer" />}
      <FieldOf name="afterApproval" cards />
      <FieldOf name="decisionHours" />
    </Group>
  );
}

function Pairs({ of }: { readonly of: readonly FieldPath<RoutineForm>[] }) {
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      {of.map((name) => (
        <FieldOf key={name} name={name} />
      ))}
    </div>
  );
}
