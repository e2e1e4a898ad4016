import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { count, exactMoney, moneyBeside, moneyInWords, plural, shortCount } from '#ui/format/numbers.ts';
import { date } from '#ui/format/times.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';

type Prognosis = Shape<'RoutineForecast'>;
type Limit = Shape<'LimitForecast'>;

/** Shows the forecast for the next 30 days, and the first limit that it reaches. */
export function Forecast({ routine: { id, state } }: { readonly routine: Pick<Shape<'Routine'>, 'id' | 'state'> }) {
  const forecast = useRead('/v1/routines/{routineId}/forecast', { path: { routineId: id } });
  return (
    <Section
      title="Next 30 days"
      description={state === 'active' ? undefined : 'As if the routine were active from now on.'}
      boxed
    >
      <Await of={forecast} skeleton={<SkeletonText lines={5} />} errorTitle="The forecast could not be read">
        {(data) => (
          <div className="flex flex-col gap-4">
            <Amounts forecast={data} />
            <LimitList limits={data.limits} />
          </div>
        )}
      </Await>
    </Section>
  );
}

/** Shows the forecast total and its basis. */
export function Amounts({ forecast }: { readonly forecast: Pick<Prognosis, 'occurrences' | 'perRun' | 'total'> }) {
  const { occurrences, perRun, total } = forecast;
  const inMoney = perRun.pricing !== 'unpriced';
  // A bound is written exactly, so that the text never says "At most less than $0.01".
  const inWords = perRun.basis === 'limits' ? exactMoney : moneyInWords;
  const show = (amount: Prognosis['total']['p50']) =>
    inMoney ? inWords(amount.costUsd) : amount.tokens === null ? 'unknown' : `${shortCount(amount.tokens)} tokens`;
  return (
    <div>
      <p className="text-lg font-semibold text-ink tabular">
        {perRun.basis === 'limits' ? `At most ${show(total.p50)}` : capitalized(show(total.p50))}
      </p>
      <p className="text-sm text-muted">
        for {plural(occurrences.count, 'run')}
        {show(total.p50) !== show(total.p95) && `, rarely more than ${show(total.p95)}`}
      </p>
      <p className="mt-1 text-xs text-faint">
        {capitalized(show(perRun.p50))} a run, {BASES[perRun.basis]}
        {inMoney ? '' : '; the model has no known prices'}
      </p>
    </div>
  );
}

export const LIMIT_SCOPES: Readonly<Record<Limit['scope'], string>> = {
  routine: 'This routine',
  project: 'The project',
  organization: 'The organization',
  operator: 'The service',
  plan: 'The plan',
};

/** Lists the limits that bind the routine, with the day on which each runs out. */
export function LimitList({ limits }: { readonly limits: readonly Limit[] }) {
  if (limits.length === 0) return <p className="text-sm text-muted">No limit applies to this routine.</p>;
  return (
    <ul className="flex flex-col gap-3 border-t border-line pt-3">
      {limits.map((limit) => (
        <li key={`${limit.scope} ${limit.limit}`} className="text-sm">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <span className="text-ink">{LIMIT_SCOPES[limit.scope]}</span>
            <RunsOut limit={limit} />
          </div>
          <p className="text-muted tabular">
            {amountOf(limit, limit.used)} of {amountOf(limit, limit.max)} {UNITS[limit.limit]}
          </p>
        </li>
      ))}
    </ul>
  );
}

function RunsOut({ limit: { runsOutOn } }: { limit: Limit }) {
  if (runsOutOn === null) return <Badge>Unknown</Badge>;
  const day = runsOutOn.p50 ?? runsOutOn.p95;
  if (day === null) return <Badge tone="good">Enough</Badge>;
  const text = date(new Date(`${day}T12:00:00Z`), 'UTC');
  return (
    <Badge tone={runsOutOn.p50 === null ? 'warn' : 'bad'}>
      {runsOutOn.p50 === null ? `May run out ${text}` : `Runs out ${text}`}
    </Badge>
  );
}

const UNITS: Readonly<Record<Limit['limit'], string>> = {
  maxTokensPerDay: 'tokens used today',
  maxCostUsdPerMonth: 'used this month',
  runsPerPeriod: 'runs used this period',
};

function amountOf({ limit, max }: Limit, amount: string): string {
  return limit === 'maxCostUsdPerMonth' ? moneyBeside(amount, max) : count(Number(amount));
}

export const BASES: Readonly<Record<Shape<'RunEstimate'>['basis'], string>> = {
  version_runs: 'from past runs of this version',
  proof_run: 'from the only run so far',
  limits: 'from the limits, as the routine has not run yet',
};
