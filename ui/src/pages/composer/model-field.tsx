import { useFormContext, useWatch } from 'react-hook-form';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { pricesInWords } from '#ui/format/model-words.ts';
import { exactMoney, moneyInWords, plural, shortCount } from '#ui/format/numbers.ts';
import { Combobox } from '#ui/parts/combobox.tsx';
import { ErrorState } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { useSourceNames } from '#ui/parts/model-source-names.ts';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { goodForMost, isSame, type RoutineForm } from './form.ts';

type Option = Shape<'ModelOption'> & { readonly account: string };

/** Chooses the model by account, with its price and the use of past runs. */
export default function ModelField({ routineId }: { readonly routineId: string | undefined }) {
  const { setValue, formState } = useFormContext<RoutineForm>();
  const models = useRead('/v1/models', {}, { staleMs: 60_000 });
  const accounts = useRead('/v1/model-connections', { query: { limit: 200 } }, { staleMs: 60_000 });
  const nameOfSource = useSourceNames();
  const model = useWatch<RoutineForm, 'model'>({ name: 'model' });
  const labels = new Map(
    accounts.data?.map(({ id, accountLabel, providerName }) => [id, `${providerName}, ${accountLabel}`]),
  );
  const options = (models.data ?? []).map((option): Option => ({
    ...option,
    account:
      option.connectionId === null ? nameOfSource(option) : (labels.get(option.connectionId) ?? 'Personal account'),
  }));
  const goodId = goodForMost(options)?.modelId;
  const chosen = options.find((option) => model !== null && isOf(option, model));
  if (models.error !== null && models.data === undefined) {
    return <ErrorState error={models.error} onRetry={models.refetch} title="The models could not be read" />;
  }
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={labelOf('model')}
        error={formState.errors.model && model === null ? 'Choose a model.' : formState.errors.model?.message}
      >
        {models.data === undefined ? (
          <Skeleton className="h-8" />
        ) : (
          <Combobox
            items={options}
            value={chosen ?? null}
            placeholder={model === null ? 'Choose a model' : `${model.modelId} is no longer offered`}
            empty="No model has this name."
            keyOf={({ connectionId, modelId }) => `${connectionId ?? ''} ${modelId}`}
            labelOf={({ name, account, connectionId }) => (connectionId === null ? name : `${name} (${account})`)}
            render={(option) => <OptionLine option={option} isGood={option.modelId === goodId} />}
            onChange={({ provider, connectionId, modelId }) =>
              setValue('model', { provider, connectionId, modelId }, { shouldDirty: true })
            }
          />
        )}
      </Field>
      {chosen !== undefined && (
        <p className="text-sm text-muted">
          {chosen.account}. {pricesInWords(chosen)}
          {chosen.contextTokens !== null && `, context ${shortCount(chosen.contextTokens)}`}.
        </p>
      )}
      {routineId === undefined ? (
        chosen?.prices != null && <p className="text-sm text-muted">{usualRunInWords(chosen.prices)}</p>
      ) : (
        <Estimate routineId={routineId} model={model} />
      )}
      {model !== null && (chosen?.abilities.effort === true || model.effort !== undefined) && (
        <Field label="Effort" description="How much the model thinks before it writes." className="max-w-80">
          <Select
            options={EFFORTS}
            value={model.effort ?? 'own'}
            onChange={(next) => {
              const { effort: _, ...bare } = model;
              setValue('model', next === 'own' ? bare : { ...bare, effort: next }, { shouldDirty: true });
            }}
          />
        </Field>
      )}
    </div>
  );
}

const EFFORTS = [
  { value: 'own', label: 'The model decides' },
  { value: 'low', label: 'Low', hint: 'Quicker and cheaper' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High', hint: 'More thought, more tokens' },
] as const;

/** Tokens of a usual run: it reads some pages in a few steps, and writes one page. */
const USUAL = { input: 20_000, output: 2_000 };

function usualRunInWords({ input, output }: NonNullable<Option['prices']>): string {
  const dollars = Number(input) * USUAL.input + Number(output) * USUAL.output;
  const cost = dollars === 0 ? 'nothing' : moneyInWords(dollars);
  return `A run that reads ${shortCount(USUAL.input)} tokens and writes ${shortCount(USUAL.output)} costs ${cost}.`;
}

function OptionLine({ option, isGood }: { readonly option: Option; readonly isGood: boolean }) {
  return (
    <span className="flex items-baseline justify-between gap-4">
      <span className="min-w-0 truncate">
        {option.name}
        <span className="block truncate text-xs text-muted">
          {option.account}
          {isGood && '. Good for most routines'}
        </span>
      </span>
      <span className="shrink-0 text-xs text-muted tabular">{pricesInWords(option, true)}</span>
    </span>
  );
}

/** Shows the cost of a run of the saved version, from past runs. */
function Estimate({ routineId, model }: { routineId: string; model: RoutineForm['model'] }) {
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } });
  const forecast = useRead('/v1/routines/{routineId}/forecast', { path: { routineId } });
  if (forecast.data === undefined || routine.data === undefined) {
    return forecast.error === null ? <Skeleton className="w-64" /> : null;
  }
  const { basis, sampleSize, p50, p95, pricing } = forecast.data.perRun;
  if (!isSame(model, routine.data.model)) {
    return <p className="text-sm text-muted">The cost of a run on this model is known after the first run.</p>;
  }
  if (basis === 'limits') {
    return (
      <p className="text-sm text-muted">
        No run of this version has used the model yet.{' '}
        {p95.costUsd !== null && `Under its limits a run costs at most ${exactMoney(p95.costUsd)}.`}
      </p>
    );
  }
  const typical = pricing === 'unpriced' ? `${shortCount(p50.tokens ?? 0)} tokens` : moneyInWords(p50.costUsd);
  const high = pricing === 'unpriced' ? `${shortCount(p95.tokens ?? 0)} tokens` : moneyInWords(p95.costUsd);
  return (
    <p className="text-sm text-muted">
      A run usually takes {typical}
      {high !== typical && `, rarely more than ${high}`}
      {sampleSize > 0 && `, by ${plural(sampleSize, 'past run')} of this version`}.
    </p>
  );
}

function isOf(option: Shape<'ModelOption'>, model: Shape<'ModelReference'>): boolean {
  return (
    option.provider === model.provider &&
    option.connectionId === (model.connectionId ?? null) &&
    option.modelId === model.modelId
  );
}
