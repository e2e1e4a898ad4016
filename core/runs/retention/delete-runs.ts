import { keepProofs } from '#core/routines/index.ts';
import { deleteMessages } from '#core/outbox/index.ts';
import { deleteDeliveries } from '#core/webhooks/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';

/**
 * Deletes runs that have ended with their steps, deliveries and messages. What they used stays in the ledger and in the
 * totals, and a version that one of them has proven stays proven.
 * @param runIds runs that the transaction has locked
 * @returns how many are deleted
 */
export async function deleteRuns(tx: Db, runIds: readonly string[]): Promise<number> {
  await keepProofs(tx, runIds);
  await deleteDeliveries(tx, runIds);
  await deleteMessages(tx, runIds);
  return execute(
    tx,
    sql`
      with recorded as (
        delete from steps where run_id = any(${runIds})
      )
      delete from runs where id = any(${runIds})
    `,
  );
}
