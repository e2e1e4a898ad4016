import { costOf, isSettled, settlement, type Attempt, type Spent } from '#core/usage/index.ts';
import type { ModelOption } from '#core/models/index.ts';
import {
  empty,
  execute,
  persistently,
  row,
  sql,
  transaction,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import { addUsage } from './add-usage.ts';
import type { RunContext } from './begin-step.ts';
import type { ModelCall } from './model-call.ts';
import { ModelFailure } from './model-failure.ts';
import { countInput } from './model-usage.ts';
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
 * Settles a call that this service or its runtime cut off, because its run was cancelled or its time was over: the
 * provider has had the input and may bill it, and nobody will ever state the usage. So the input is counted, as
 * estimated; what the model had written by then nobody knows. A call that is made again elsewhere, after a worker has
 * stopped, is not settled here.
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
    const usage = { ...NOTHING, inputTokens: countInput(call), estimated: true };
    const spent = { ...attempt, usage, costUsd: costOf(usage, option.prices) };
    const endCall = error instanceof ModelFailure ? error.endCall : undefined;
    const record = () =>
      transaction(database, async (tx) => {
        // A statement of its own: the next ones see what whoever held the run has recorded.
        await row(tx, sql`select id from runs where id = ${run.id} for update`);
        if ((await endCall?.(tx)) === false) return false;
        const isFirst = await settle(tx, spent, call.account !== undefined);
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

const NOTHING = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };

async function isCutOff(
  db: Db,
  { call, attempt, isOver }: UnansweredCall,
  error: unknown,
): Promise<boolean> {
  if (error instanceof ModelFailure) return error.cutOff;
  return isOver || (call.signal.aborted && !(await isStillWanted(db, attempt.runId)));
}

/**
 * Adds the usage to the step, its run, the ledger and the totals, whether or not the run has ended.
 * @param onAccount a call on an account is made once for all attempts, and one of them may have recorded its response
 */
async function settle(tx: Db, spent: Spent, onAccount: boolean): Promise<boolean> {
  const { runId, index } = spent;
  const settled = await execute(
    tx,
    sql`
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
    `,
  );
  return settled > 0;
}
