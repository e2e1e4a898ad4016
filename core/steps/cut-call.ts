import { costOf, type Attempt } from '#core/usage/index.ts';
import type { ModelOption } from '#core/models/index.ts';
import {
  persistently,
  row,
  sql,
  transaction,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { RunContext } from './begin-step.ts';
import type { ModelCall } from './model-call.ts';
import { ModelFailure } from './model-failure.ts';
import { countInput } from './model-usage.ts';
import { inputOnly, settleUnanswered } from './settle-unanswered.ts';
import { tellSpending } from './spending-news.ts';
import { isStillWanted } from './still-wanted.ts';

/** A call that went out and got no response. */
export interface UnansweredCall {
  readonly call: ModelCall;
  readonly attempt: Attempt;
  readonly option: ModelOption;
  /** True when the time of its run is over. */
  readonly isOver: boolean;
}

/**
 * Settles a call that this service or its runtime cut off, because its run was cancelled, its time was over or the
 * worker stops: the provider has had the input and may bill it, and nobody will ever state the usage. So the input is
 * counted, as estimated. On an account a call outlives the worker, and the attempt that goes on with it settles it.
 * @returns whether it was settled; it never throws, as what ended the call is the error that matters
 */
export async function settleCutCall(
  deps: { readonly database: Database; readonly metrics: Metrics; readonly log: Log },
  run: RunContext,
  unanswered: UnansweredCall,
  error: unknown,
): Promise<boolean> {
  const { database, metrics, log } = deps;
  const { call, attempt, option } = unanswered;
  try {
    if (!(await isCutOff(database, unanswered, error))) return false;
    const stated = error instanceof ModelFailure ? error.usage : undefined;
    const usage = stated ?? inputOnly(countInput(call));
    const spent = { ...attempt, usage, costUsd: costOf(usage, option.prices) };
    const endCall = error instanceof ModelFailure ? error.endCall : undefined;
    const record = () =>
      transaction(database, async (tx) => {
        // A statement of its own: the next ones see what whoever held the run has recorded.
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
