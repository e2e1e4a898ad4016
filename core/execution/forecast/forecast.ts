import type { Core } from '#core/core.ts';
import { Big } from 'big.js';
import { readPeriodUsage, runsPerDay, type Plan } from '#core/accounts/billing/index.ts';
import { DEFINITION } from '#core/authoring/definition/index.ts';
import type { Draft } from '#core/authoring/drafts/index.ts';
import type { ProjectModels } from '#core/models/directory/index.ts';
import { readRoutine, type ProvenRoutine } from '#core/authoring/routines/index.ts';
import { PACE_DAYS, readSpending } from '#core/usage/index.ts';
import { databaseTime } from '#lib/database/index.ts';
import { countRuns } from './version-usage.ts';
import { estimateRun, findQuoted, mostOfRun, type Amount, type RunEstimate } from './estimate.ts';
import { forecastLimits, type LimitForecast } from './limits.ts';
import { plannedRuns, type PlannedRuns } from './planned-runs.ts';

export interface ForecastDeps extends Pick<Core, 'database'>, Partial<Pick<Core, 'maxCostUsdPerOrganization'>> {
  readonly models: ProjectModels;
}

/** The routine that is to run, with its organization's plan. */
export interface ForecastSubject {
  readonly routine: ProvenRoutine;
  readonly organizationId: string;
  readonly plan: Plan;
}

export interface Forecast {
  readonly routineId: string;
  readonly revision: number;
  /** The effort that the routine's runs ask of their model; null if the model decides. */
  readonly effort: ProvenRoutine['model']['effort'] | null;
  readonly runs: Omit<PlannedRuns, 'days'>;
  readonly perRun: RunEstimate;
  readonly total: { readonly p50: Amount; readonly p95: Amount };
  readonly limits: readonly LimitForecast[];
}

/** Forecasts the usage of a routine in the next 30 days. @throws {AppError} `routine_not_found` */
export async function readForecast(
  deps: ForecastDeps,
  input: { projectId: string; organizationId: string; plan: Plan; id: string },
): Promise<Forecast> {
  const routine = await readRoutine(deps.database, input.projectId, input.id);
  const planned = plannedRuns(routine, await databaseTime(deps.database));
  return forecastOf(deps, { ...input, routine }, planned);
}

/** Forecasts the usage of planned runs of a routine, and the limits that they reach together with past spending. */
export async function forecastOf(
  deps: ForecastDeps,
  { routine, organizationId, plan }: ForecastSubject,
  planned: PlannedRuns,
): Promise<Forecast> {
  const { database, maxCostUsdPerOrganization } = deps;
  const { id: routineId, projectId, revision, model } = routine;
  const perRun = await estimateRun(deps, routine);
  const spending = await readSpending(database, { routineId, projectId, organizationId });
  const period = await readPeriodUsage(database, organizationId);
  const pace = await runsPerDay(database, organizationId, PACE_DAYS);
  const own = await countRuns(database, { projectId, routineId }, PACE_DAYS);
  const { days, ...runs } = planned;
  return {
    routineId,
    revision,
    effort: model.effort ?? null,
    runs,
    perRun,
    total: { p50: times(perRun.p50, planned.count), p95: times(perRun.p95, planned.count) },
    limits: forecastLimits({
      days,
      perRun,
      spending,
      operatorCap: model.provider === 'gateway' ? maxCostUsdPerOrganization : undefined,
      allowance: { plan, period, othersPerDay: Math.max(pace - own / PACE_DAYS, 0) },
    }),
  };
}

/** Limits of a routine that sets none. */
const LIMITS = DEFINITION.limits.schema.parse(undefined);

/** Forecasts what a draft would use at most in 30 days if it were active; null without a schedule or a model. */
export async function forecastDraft(
  { database, models }: ForecastDeps,
  projectId: string,
  { schedule, timezone, model }: Draft['definition'],
): Promise<Pick<Forecast, 'runs' | 'perRun' | 'total'> | null> {
  if (schedule === null || model === null) return null;
  const option = await findQuoted(models, { projectId, model });
  const most = mostOfRun(LIMITS, option);
  const pricing = option?.prices == null ? 'unpriced' : 'directory';
  const perRun: RunEstimate = { basis: 'limits', sampleSize: 0, pricing, p50: most, p95: most };
  const planned = plannedRuns({ id: 'draft', schedule, timezone, state: 'active' }, await databaseTime(database));
  const { days: _, ...runs } = planned;
  return { runs, perRun, total: { p50: times(most, runs.count), p95: times(most, runs.count) } };
}

function times({ tokens, costUsd }: Amount, count: number): Amount {
  return {
    tokens: tokens === null ? null : tokens * count,
    costUsd: costUsd === null ? null : new Big(costUsd).times(count).toFixed(),
  };
}
