import { execute, sql, type Db } from '#lib/database/index.ts';
import type { Attempt } from './attempt.ts';
import { addToTotals } from './totals.ts';

/** Releases what an attempt has reserved, where nothing of its call can be settled, or not as this attempt. */
export async function releaseAttempt(db: Db, { runId, index, attempt }: Attempt): Promise<void> {
  await execute(
    db,
    sql`
      with released as (
        delete from usage_reservations
        where run_id = ${runId} and step_index = ${index} and attempt = ${attempt}
        returning scope_ids, tokens, cost_usd
      )
      ${addToTotals(sql`(
        select scope_id, 0::bigint as tokens, 0::numeric as cost_usd, -released.tokens as reserved_tokens,
          -released.cost_usd as reserved_cost_usd
        from released, unnest(scope_ids) as scope_id
      )`)}
    `,
  );
}
