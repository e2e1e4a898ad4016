import { useFormContext } from 'react-hook-form';
import { money, plural, shortCount } from '#ui/format/numbers.ts';
import { duration } from '#ui/format/times.ts';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Group } from './group.tsx';
import { NumberField, TextField } from './value-field.tsx';

/** Edits what one run may use, and what all runs together may use. */
export function Limits() {
  const { watch, setValue } = useFormContext<RoutineForm>();
  const [limits, budget, tools] = watch(['limits', 'budget', 'builtInTools']);
  return (
    <Group
      title="Limits"
      summary={[
        `${plural(limits.maxSteps, 'step')}, ${duration(limits.timeoutSeconds * 1_000)} a run`,
        budget.maxCostUsdPerMonth !== null && `${money(budget.maxCostUsdPerMonth)} a month`,
        budget.maxTokensPerDay !== null && `${shortCount(budget.maxTokensPerDay)} tokens a day`,
      ]
        .filter(Boolean)
        .join(', ')}
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          name="budget.maxCostUsdPerMonth"
          optional
          description="Its runs stop there until next month."
          placeholder="No limit"
          unit="US dollars a month"
        />
        <NumberField
          name="budget.maxTokensPerDay"
          optional
          description="Its runs stop there until midnight UTC."
          placeholder="No limit"
          unit="tokens"
        />
        <NumberField
          name="limits.maxSteps"
          description="Each call of the model is one."
          unit="steps"
        />
        <NumberField
          name="limits.timeoutSeconds"
          description="It ends as failed after that."
          unit="seconds"
        />
        <NumberField
          name="limits.maxTotalTokens"
          optional
          description="Input and output together."
          placeholder="No limit"
          unit="tokens"
        />
        <NumberField
          name="limits.maxOutputTokens"
          optional
          description="Longer texts are cut there."
          placeholder="Up to the model"
          unit="tokens"
        />
        <NumberField
          name="limits.abnormalFactor"
          optional
          description="Ends a run far above the others."
          placeholder="Never"
          unit="times the usual"
        />
        <NumberField
          name="pauseAfterFailures"
          description="So many scheduled runs in a row."
          unit="failures"
        />
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
