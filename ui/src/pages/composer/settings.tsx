import { useFormContext, useWatch } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { OTHER_FIELDS } from '#ui/parts/routine-fields.ts';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Gate } from './gate.tsx';
import { Group } from './group.tsx';
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

const LIMITS = [
  'budget.maxCostUsdPerMonth',
  'budget.maxTokensPerDay',
  'limits.maxSteps',
  'limits.timeoutSeconds',
  'limits.maxTotalTokens',
  'limits.maxOutputTokens',
  'limits.abnormalFactor',
  'pauseAfterFailures',
] as const;

/** Edits the limits of one run, and of all runs together. */
function Limits() {
  const { setValue } = useFormContext<RoutineForm>();
  const tools = useWatch<RoutineForm, 'builtInTools'>({ name: 'builtInTools' });
  return (
    <Group title="Limits">
      <div className="grid gap-5 sm:grid-cols-2">
        {LIMITS.map((name) => (
          <FieldOf key={name} name={name} />
        ))}
      </div>
      <Checkbox
        label="May calculate"
        description="A built-in tool for exact arithmetic, rates, trends and lists of differences."
        checked={tools.includes('calculate')}
        onChange={(on) => setValue('builtInTools', on ? ['calculate'] : [], { shouldDirty: true })}
      />
    </Group>
  );
}
