import { isSettled, settlement, type Spent, type Usage } from '#core/usage/index.ts';
import { empty, execute, sql, type Db } from '#lib/database/index.ts';
import { addUsage } from './add-usage.ts';

/** Returns the usage of a call without a response: what the model had written by then nobody knows. */
export function inputOnly(inputTokens: number): Usage {
  return {
    inputTokens,
    cachedInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    estimated: true,
  };
}

/**
 * Adds the usage of a call without a response to its step, its run, the ledger and the totals, whether or not the run
 * has ended.
 * @param tx transaction that holds the run
 * @param options.onAccount a call on an account is made once for all attempts, and one of them may have recorded its
 * response
 * @returns whether it was added; false when it is in the ledger already
 */
export async function settleUnanswered(
  tx: Db,
  spent: Spent,
  { onAccount }: { onAccount: boolean },
): Promise<boolean> {
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
