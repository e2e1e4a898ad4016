import { sql, type Db, type Sql } from '#lib/database/index.ts';

export function hasOpenDelivery(runId: Sql): Sql {
  return sql`exists (
    select from webhook_deliveries d where d.run_id = ${runId} and d.state in ('pending', 'sending'))`;
}

/**
 * Erases the bodies of deliveries and the beginnings of responses. An open delivery keeps its body, because the body
 * has yet to be sent.
 * @returns the runs that have an open delivery, because a redelivery was requested meanwhile
 */
export async function eraseBodies(tx: Db, runIds: readonly string[]): Promise<string[]> {
  const erased = await tx.rows<{ id: string }>`
    update webhook_deliveries set body = null
    where run_id = any(${runIds}) and state in ('delivered', 'failed') and body is not null
    returning id
  `;
  if (erased.length > 0) {
    // Use a separate statement by ids, because a join on the deliveries made Postgres read all attempts of the table.
    await tx.run`
      update webhook_attempts set response_excerpt = null
      where delivery_id = any(${erased.map(({ id }) => id)}) and response_excerpt is not null
    `;
  }
  // Read again under the locks, because a redelivery may have been requested before the locks were taken.
  const kept = await tx.rows<{ runId: string }>`
    select distinct run_id as "runId" from webhook_deliveries
    where run_id = any(${runIds}) and body is not null
  `;
  return kept.map(({ runId }) => runId);
}

/**
 * Gives up the open deliveries of routines that are archived, in the transaction that archives them. A delivery being
 * sent is left alone: its next attempt finds the routine archived.
 */
export async function giveUpDeliveries(tx: Db, routineIds: readonly string[]): Promise<void> {
  await tx.run`
    update webhook_deliveries set state = 'failed', reason = 'routine_archived', next_attempt_at = null,
      claimed_until = null, finished_at = now()
    where id in (
      select id from webhook_deliveries
      where routine_id = any(${routineIds}) and state in ('pending', 'sending') for update skip locked
    )
  `;
}

export async function deleteDeliveries(tx: Db, runIds: readonly string[]): Promise<void> {
  const deliveries = await tx.rows<{ id: string }>`select id from webhook_deliveries where run_id = any(${runIds})`;
  if (deliveries.length === 0) return;
  const ids = deliveries.map(({ id }) => id);
  await tx.run`delete from webhook_attempts where delivery_id = any(${ids})`;
  await tx.run`delete from webhook_deliveries where id = any(${ids})`;
}

/** Deletes deliveries that belong to no run, with their attempts, 90 days after their end. */
export function forgetDeliveries(db: Db, limit: number): Promise<number> {
  return forget(db, sql`finished_at < now() - interval '90 days'`, limit);
}

/** Deletes ended deliveries of deleted projects that belong to no run, at once, because bodies name routines. */
export function forgetDeliveriesOf(db: Db, projectIds: readonly string[], limit: number): Promise<number> {
  return forget(db, sql`project_id = any(${projectIds})`, limit);
}

function forget(db: Db, which: Sql, limit: number): Promise<number> {
  return db.run`
    with old as (
      select id from webhook_deliveries
      where run_id is null and state in ('delivered', 'failed') and ${which}
      limit ${limit}
      for update skip locked
    ), tried as (
      delete from webhook_attempts where delivery_id in (select id from old)
    )
    delete from webhook_deliveries t using old where t.id = old.id
  `;
}
