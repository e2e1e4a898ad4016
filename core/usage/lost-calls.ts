import { empty, sql, type Db } from '#lib/database/index.ts';
import type { Attempt } from './settle.ts';

/** A lost call, and the input that it counts with. */
interface LostCall {
  /** Its key in the ledger, the negative of its attempt: if its own response comes after all, that still counts. */
  readonly key: Attempt;
  /** Null where the call counts nothing. */
  readonly inputTokens: number | null;
  /** In US dollars; null for a model without prices. */
  readonly costUsd: string | null;
}

/**
 * Finds calls whose reservation has outlived its lease, the oldest first. Their process died before it could settle
 * them, and they cannot be under way any more.
 * @param limit the most that are found
 * @param scopeIds routine, project or organization to look in; all when left out
 */
export function findLostCalls(db: Db, limit: number, scopeIds?: readonly string[]): Promise<Attempt[]> {
  return db.rows`
    select run_id as "runId", step_index as index, attempt from usage_reservations
    where leased_until <= now() ${scopeIds === undefined ? empty : sql`and scope_ids && ${scopeIds}`}
    order by leased_until limit ${limit}
  `;
}

/** Locks the reservation of a lost call and returns what the call has sent; undefined when it was settled meanwhile. */
export async function lockLostCall(tx: Db, { runId, index, attempt }: Attempt): Promise<LostCall | undefined> {
  const sent = await tx.row<Omit<LostCall, 'key'>>`
    select input_tokens as "inputTokens", input_cost_usd as "costUsd" from usage_reservations
    where run_id = ${runId} and step_index = ${index} and attempt = ${attempt}
    for update
  `;
  return sent === undefined ? undefined : { ...sent, key: { runId, index, attempt: -attempt } };
}
