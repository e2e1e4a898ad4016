import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { PLANS, takeRuns, type Plan } from '#core/accounts/billing/index.ts';
import type { RetentionRule } from '#core/accounts/settings/index.ts';
import { lockRoutine } from '#core/authoring/routines/index.ts';
import { occurrences } from '#core/execution/runs/index.ts';
import type { Admission } from '#core/execution/admission/index.ts';
import { transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ForecastDeps } from '#core/execution/forecast/index.ts';
import { planBackfill, type BackfillPlan, type LeftOut } from './plan.ts';
import { forecastBackfill, notAccepted, type WantedBackfill } from './forecast.ts';

export const MAX_BACKFILL = 200;

/** Limit of waiting backfill runs in an organization. */
const MAX_WAITING = 1_000;

export interface BackfillDeps extends ForecastDeps, Pick<Core, 'providerEnabled'> {
  readonly retention: RetentionRule;
  readonly admission: Pick<Admission, 'nudge'>;
}

export interface BackfillInput extends WantedBackfill {
  readonly backfillId: string;
  readonly acceptForecast: boolean;
  /** Ids of the API keys and consents that cause the runs, as in `ManualRun`. */
  readonly startedBy: string | null;
}

export interface Backfill {
  readonly id: string;
  readonly routineId: string;
  readonly routineRevision: number;
  readonly runs: BackfillPlan['made'];
  readonly leftOut: LeftOut;
  readonly nextFrom: Date | null;
}

/**
 * Creates either all runs of a backfill or none, once its forecast is accepted. Instants of earlier backfills are left
 * out.
 * @throws {AppError} `routine_not_found`, `forecast_not_accepted`, `allowance_exceeded`, `limit_reached`,
 * `provider_disabled`, and the errors of `planBackfill`
 */
export async function backfillRoutine(deps: BackfillDeps, by: Actor, input: BackfillInput): Promise<Backfill> {
  const { acceptForecast, organizationId, plan: planName, startedBy, ...rest } = input;
  const { projectId, routineId, ...window } = rest;
  const { database, retention } = deps;
  if (!acceptForecast) {
    // Forecast before locking the routine: reading prices may send a request to the model directory, during which no
    // row should be locked.
    const { forecast } = await forecastBackfill(deps, input);
    if (forecast.runs.count > 0) throw notAccepted(forecast);
  }
  const backfill = await transaction(database, async (tx) => {
    // Lock the routine first, as the tick and every other backfill do.
    const routine = await lockRoutine(tx, projectId, routineId);
    if (!deps.providerEnabled(routine.model.provider)) throw new AppError('provider_disabled');
    const plan = await planBackfill(tx, routine, window, retention);
    const { backfillId: id } = window;
    const { instants, made, leftOut, nextFrom } = plan;
    const known = { id, routineId, routineRevision: routine.revision, leftOut, nextFrom };
    if (made.length > 0 || instants.length === 0) return { ...known, runs: made };
    if (!acceptForecast) throw new AppError('forecast_not_accepted');
    await takeAll(tx, { organizationId, plan: planName, wanted: instants.length });
    const runs = await occurrences.insertBackfill(tx, { backfillId: id, routineId, instants, startedBy });
    await recordProjectAudit(tx, {
      by,
      projectId,
      action: 'routine.backfilled',
      targetId: routineId,
      details: { backfillId: id, runs: runs.length, from: window.from.toISOString(), to: window.to.toISOString() },
    });
    return { ...known, runs };
  });
  deps.admission.nudge();
  return backfill;
}

/**
 * Counts runs against the allowance and locks the allowance, so that two backfills cannot both take the last runs.
 * @throws {AppError} `allowance_exceeded`, `limit_reached`
 */
async function takeAll(tx: Db, input: { organizationId: string; plan: Plan; wanted: number }): Promise<void> {
  const { organizationId, plan, wanted } = input;
  const granted = await takeRuns(tx, input);
  if (granted < wanted) {
    throw new AppError(
      'allowance_exceeded',
      `The backfill needs ${wanted} runs, and only ${granted} of the ${PLANS[plan].runsPerPeriod} that the ${plan} plan allows a period are left. Nothing was started.`,
    );
  }
  const waiting = await occurrences.countWaitingBackfills(tx, organizationId);
  if (waiting + wanted <= MAX_WAITING) return;
  throw new AppError(
    'limit_reached',
    `${waiting} backfill runs of the organization wait, and at most ${MAX_WAITING} may: ${wanted} more are too many.`,
  );
}
