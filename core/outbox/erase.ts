import { deleteBatch, execute, sql, type Db } from '#lib/database/index.ts';

/** Erases the texts of mails about runs and the addresses of monitors; those still to be sent are given up. */
export async function eraseMessages(tx: Db, runIds: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`
      update outbox set content = null, url = null,
        error = case when state in ('pending', 'held') then 'its content was erased' else error end,
        finished_at = coalesce(finished_at, now()),
        state = case when state in ('pending', 'held') then 'cancelled' else state end
      where run_id = any(${runIds}) and (content is not null or url is not null or state in ('pending', 'held'))
    `,
  );
}

/** Cancels the unsent messages about a project that is being deleted. */
export async function cancelMessages(tx: Db, projectId: string): Promise<void> {
  await execute(
    tx,
    sql`
      update outbox set state = 'cancelled', error = 'the project was deleted', content = null, url = null,
        finished_at = now()
      where project_id = ${projectId} and state in ('pending', 'held')
    `,
  );
}

/** Deletes the messages about runs that are about to be deleted. */
export async function deleteMessages(tx: Db, runIds: readonly string[]): Promise<void> {
  await execute(tx, sql`delete from outbox where run_id = any(${runIds})`);
}

/** Deletes messages that are about no run, 90 days after they were sent or given up. */
export function forgetMessages(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'outbox',
    where: sql`run_id is null and finished_at is not null and finished_at < now() - interval '90 days'`,
    orderBy: sql`finished_at`,
    limit,
  });
}
