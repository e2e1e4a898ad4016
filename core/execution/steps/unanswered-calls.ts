import type { Core } from '#core/core.ts';
import { usageOf } from '#core/clients/gateway/index.ts';
import { notifySpending } from '#core/delivery/notifications/index.ts';
import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { addUsage } from '#core/execution/runs/index.ts';
import { mailOwnerOfEmptyAccount } from '#core/models/connections/index.ts';
import {
  findLostCalls,
  isSettled,
  lockLostCall,
  releaseAttempt,
  settlement,
  type Attempt,
  type Spent,
} from '#core/usage/index.ts';
import { costOf, NO_USAGE, type Usage } from '#core/foundation/cost/index.ts';
import { empty, persistently, sql, transaction, type Db } from '#lib/database/index.ts';
import { isStillWanted, type StepRun } from './begin-step.ts';
import type { ModelCall } from './model-call.ts';
import type { PreparedStep } from './prepare.ts';
import { ModelFailure } from './stop.ts';

/**
 * Settles a call that this service or its runtime cut off, because the run was cancelled or out of time, or because the
 * worker stops. The provider has the input and may bill it, but never reports the usage, so the estimated input is
 * counted. On an account a call outlives the worker, and the attempt that continues the call settles it.
 * @returns true if this attempt settled the call; errors are logged and not thrown, as the error that ended the call
 * matters more
 */
export async function settleCutCall(
  { database, log, metrics }: Pick<Core, 'database' | 'log' | 'metrics'>,
  run: StepRun,
  { call, option, countInput }: PreparedStep,
  ended: EndOfCall,
): Promise<boolean> {
  const { error } = ended;
  const { runId, index, attempt } = run;
  try {
    if (!(await isCutOff(database, runId, call, ended))) return false;
    const stated = error instanceof ModelFailure ? error.usage : undefined;
    const usage = stated === undefined ? inputOnly(countInput()) : usageOf(call, stated, { texts: [], calls: [] });
    const spent = { runId, index, attempt, usage, costUsd: costOf(usage, option.prices) };
    const endCall = error instanceof ModelFailure ? error.endCall : undefined;
    const record = () =>
      transaction(database, async (tx) => {
        // Lock in a separate statement, so that the next statements see the writes of the run's last lock holder.
        await tx.row`select id from runs where id = ${runId} for update`;
        if ((await endCall?.(tx)) === false) return false;
        const isFirst = await settleUnanswered(tx, spent, { onAccount: call.account !== undefined });
        if (isFirst) await notifySpending(tx, run);
        return isFirst;
      });
    // On an account, repeat this while Postgres is away: until its outcome is recorded, the call keeps its request id,
    // and the step can make no other call.
    const settled = await (endCall === undefined ? record() : persistently(record, call.signal));
    if (settled) metrics.modelCost(option.modelId, spent.costUsd);
    return settled;
  } catch (err) {
    log.warn({ err, runId }, 'a call that was cut off could not be settled');
    return false;
  }
}

interface EndOfCall {
  readonly error: unknown;
  /** True when the time of the call's run is over. */
  readonly isOver: boolean;
}

async function isCutOff(db: Db, runId: string, call: ModelCall, { error, isOver }: EndOfCall): Promise<boolean> {
  if (error instanceof ModelFailure) return error.cutOff;
  if (isOver) return true;
  if (!call.signal.aborted) return false;
  return call.account === undefined || !(await isStillWanted(db, runId));
}

/** Calls settled at a time: as many as a few workers lose together. The next caller continues. */
const BATCH = 500;

/** The most lost calls that a waiting step settles: enough to make room for itself. The sweep settles the rest. */
const BATCH_OF_WAITER = 20;

/**
 * Settles calls that were lost with their process, once their time is over: the provider may bill the input, so its
 * estimate counts, and the rest of the reservation is free again. Otherwise a worker that dies at each response would
 * spend past every limit. Calls of runs without a limit reserve nothing and are not found. A call that cannot be
 * settled now is left to the next caller.
 * @param waiter a run that waits for a budget; only calls with reservations of its budgets are settled for it
 */
export async function settleLostCalls(
  deps: Pick<Core, 'database' | 'log' | 'metrics'>,
  signal: AbortSignal,
  waiter?: Pick<StepRun, 'organizationId' | 'projectId' | 'routineId'>,
): Promise<void> {
  const scopes = waiter && [waiter.organizationId, waiter.projectId, waiter.routineId];
  const found = await findLostCalls(deps.database, scopes === undefined ? BATCH : BATCH_OF_WAITER, scopes);
  for (const attempt of found) {
    if (signal.aborted) return;
    try {
      await settleLostCall(deps, attempt);
    } catch (err) {
      deps.log.warn({ err, runId: attempt.runId }, 'a call that was lost could not be settled');
    }
  }
}

async function settleLostCall({ database, metrics }: Pick<Core, 'database' | 'metrics'>, attempt: Attempt) {
  const counted = await transaction(database, async (tx) => {
    // Lock run, step, reservation and totals in this order, as every statement does. Leave a run that another statement
    // has locked for the next time.
    const run = await tx.row<{ routineId: string; modelId: string }>`
      select routine_id as "routineId",
        (select model_id from steps where run_id = runs.id and index = ${attempt.index}) as "modelId"
      from runs where id = ${attempt.runId} for update skip locked
    `;
    if (run === undefined) return undefined;
    const lost = await lockLostCall(tx, attempt);
    if (lost === undefined) return undefined;
    const { key, inputTokens, costUsd } = lost;
    const isCounted =
      inputTokens !== null &&
      (await settleUnanswered(tx, { ...key, usage: inputOnly(inputTokens), costUsd }, { onAccount: false }));
    await releaseAttempt(tx, attempt);
    if (!isCounted) return undefined;
    await notifySpending(tx, { runId: attempt.runId, routineId: run.routineId });
    return { modelId: run.modelId, costUsd };
  });
  if (counted !== undefined) metrics.modelCost(counted.modelId, counted.costUsd);
}

/** Returns a usage with input alone, because the output of a call without a response is unknown. */
function inputOnly(inputTokens: number): Usage {
  return { ...NO_USAGE, inputTokens, estimated: true };
}

/**
 * Adds the usage of a call without a response to its step, its run, the ledger and the totals, even after the run has
 * ended.
 * @param tx transaction that has locked the run
 * @param options.onAccount true for a call on an account: all attempts share it, and one may have recorded its response
 * @returns whether the usage was added; false when the ledger has it already
 */
async function settleUnanswered(tx: Db, spent: Spent, { onAccount }: { onAccount: boolean }): Promise<boolean> {
  const { runId, index } = spent;
  const settled = await tx.run`
    with late as (
      select r.id, r.organization_id, r.routine_id from runs r where r.id = ${runId} and not ${isSettled(spent)}
    ), step as (
      update steps set ${addUsage(spent, sql`usage_estimated`)}
      from late
      where run_id = late.id and index = ${index} ${onAccount ? sql`and finish_reason is null` : empty}
      -- No model step by itself: it has no response, and may still get one in another attempt.
      returning run_id, index, late.organization_id, project_id, late.routine_id, model_id, 0 as new_steps
    ), ${settlement(sql`step`, spent)}
    update runs set ${addUsage(spent, sql`estimated_usage`)} from step, settled where runs.id = step.run_id
  `;
  return settled > 0;
}

/** One account without money fails every run on it, so the mail is sent once a day. */
const TOLD: ThrottleRule = { name: 'model-account-empty', limit: 1, windowSeconds: 24 * 60 * 60 };

/**
 * Informs the payer that a model account has no money left: its owner by mail, the operator of a source by an error in
 * the log. Never throws, as the failure of the call is the error that matters.
 */
export async function tellAccountEmpty(
  { database, log }: Pick<Core, 'database' | 'log'>,
  { account, served, modelId }: ModelCall,
): Promise<void> {
  const subject = account?.connection.id ?? `source ${served?.source}`;
  try {
    const isFirst = await transaction(database, async (tx) => {
      if ((await throttle(tx, TOLD, subject)) !== undefined) return false;
      if (account !== undefined) await mailOwnerOfEmptyAccount(tx, account.connection);
      return true;
    });
    if (isFirst && account === undefined) {
      const source = served?.source;
      log.error({ source, modelId }, 'a model source has no money left, or reached a limit on spending');
    }
  } catch (err) {
    log.warn({ err }, 'the mail about a model account without money could not be queued');
  }
}
