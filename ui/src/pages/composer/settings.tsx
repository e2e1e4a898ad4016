import { useFormContext } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { money, plural, shortCount } from '#ui/format/numbers.ts';
import { duration } from '#ui/format/times.ts';
import { Field } from '#ui/parts/field.tsx';
import { declared, listInWords, OTHER_FIELDS, type RoutineField } from '#ui/parts/routine-fields.ts';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Gate } from './gate.tsx';
import { Group } from './group.tsx';
import { Results } from './results.tsx';
import { Timing } from './timing.tsx';
import { Told } from './told.tsx';
import { messageAt, NumberField, TextField } from './value-field.tsx';

/** Edits the settings that most people leave as they are; loaded after the fields that they write. */
export default function Settings({ routine }: { readonly routine: Shape<'RoutineDetail'> | undefined }) {
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
      return <Checkbox label={label} description={help} checked={value === true} onChange={change} />;
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

/** Edits what one run may use, and what all runs together may use. */
function Limits() {
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
        <NumberField name="limits.maxSteps" description="Each call of the model is one." unit="steps" />
        <NumberField name="limits.timeoutSeconds" description="It ends as failed after that." unit="seconds" />
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
        <NumberField name="pauseAfterFailures" description="So many scheduled runs in a row." unit="failures" />
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
