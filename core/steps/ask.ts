import { costOf } from '#core/cost/index.ts';
import { releaseAttempt, type Attempt } from '#core/usage/index.ts';
import {
  execute,
  persistently,
  row,
  sql,
  transaction,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { RunContext } from './begin-step.ts';
import { inputOnly, settleUnanswered } from './lost-calls.ts';
import type { ModelCaller, ModelResponse } from './model-call.ts';
import { ModelFailure } from './model-failure.ts';
import type { PreparedStep } from './prepare.ts';
import { tellSpending } from './record-response.ts';
import { delayAfter, takeBackAttempt, type Grant } from './reserve.ts';
import { isStillWanted } from './step-outcome.ts';
import { Stop } from './stop.ts';

export interface AskModelDeps {
  readonly database: Database;
  readonly caller: ModelCaller;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Asks the model. What was reserved for a call without a response is settled, where the provider may bill it, and else
 * released.
 * @throws {Stop} where its account cannot take the call, now or at all, or its response would not be used
 * @throws {ModelFailure} where the call failed
 */
export async function askModel(
  deps: AskModelDeps,
  run: RunContext,
  step: PreparedStep,
  { grant, deadline }: { readonly grant: Grant; readonly deadline: Deadline },
): Promise<ModelResponse> {
  const { index, call } = step;
  let isSent = false;
  const onSend = () => {
    isSent = true;
  };
  try {
    return await deps.caller.call({ ...call, maxOutputTokens: grant.maxOutputTokens, onSend });
  } catch (error) {
    const attempt = { runId: run.id, index, attempt: run.attempt };
    const unanswered = { ...step, attempt, isOver: deadline.isOver() };
    const mayBeBilled = isSent && !(error instanceof Stop);
    if (!(mayBeBilled && (await settleCutCall(deps, run, unanswered, error))) && grant.reserved) {
      // Nothing of it can be settled any more. Where this fails, the lease of the reservation runs out.
      await releaseAttempt(deps.database, attempt).catch(() => undefined);
    }
    if (!(error instanceof Stop) || error.consequence.kind !== 'waits') throw error;
    await execute(deps.database, takeBackAttempt(run, index));
    throw Stop.waits(Math.max(error.consequence.delayMs, delayAfter(run.stepAgeMs)));
  }
}

/** A call that went out and got no response. */
interface UnansweredCall extends Pick<PreparedStep, 'call' | 'option' | 'countInput'> {
  readonly attempt: Attempt;
  /** True when the time of its run is over. */
  readonly isOver: boolean;
}

/**
 * Settles a call that this service or its runtime cut off, because its run was cancelled, its time was over or the
 * worker stops: the provider has had the input and may bill it, and the usage is never stated. So the input is
 * counted, as estimated. On an account a call outlives the worker, and the attempt that goes on with it settles it.
 * @returns whether it was settled; it never throws, as what ended the call is the error that matters
 */
async function settleCutCall(
  deps: { readonly database: Database; readonly metrics: Metrics; readonly log: Log },
  run: RunContext,
  unanswered: UnansweredCall,
  error: unknown,
): Promise<boolean> {
  const { database, metrics, log } = deps;
  const { call, attempt, option, countInput } = unanswered;
  try {
    if (!(await isCutOff(database, unanswered, error))) return false;
    const stated = error instanceof ModelFailure ? error.usage : undefined;
    const usage = stated ?? inputOnly(countInput());
    const spent = { ...attempt, usage, costUsd: costOf(usage, option.prices) };
    const endCall = error instanceof ModelFailure ? error.endCall : undefined;
    const record = () =>
      transaction(database, async (tx) => {
        // A statement of its own: the next ones see what the last holder of the run recorded.
        await row(tx, sql`select id from runs where id = ${run.id} for update`);
        if ((await endCall?.(tx)) === false) return false;
        const isFirst = await settleUnanswered(tx, spent, {
          onAccount: call.account !== undefined,
        });
        if (isFirst) await tellSpending(tx, run);
        return isFirst;
      });
    // Until its outcome is recorded, the call keeps its request id, and no other can be made.
    const settled = await (endCall === undefined ? record() : persistently(record, call.signal));
    if (settled) metrics.modelCost(option.modelId, spent.costUsd);
    return settled;
  } catch (err) {
    log.warn({ err, runId: run.id }, 'a call that was cut off could not be settled');
    return false;
  }
}

async function isCutOff(
  db: Db,
  { call, attempt, isOver }: UnansweredCall,
  error: unknown,
): Promise<boolean> {
  if (error instanceof ModelFailure) return error.cutOff;
  if (isOver) return true;
  if (!call.signal.aborted) return false;
  return call.account === undefined || !(await isStillWanted(db, attempt.runId));
}
