import { sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';

/** A person, or an API key, in a project. */
export interface Reader {
  readonly projectId: string;
  readonly readerId: string;
}

/** Age in days from which a result counts as read, because it is no longer news. */
export const UNREAD_DAYS = 30;

/** Returns an SQL expression: the reader has not read a row of `runs`. */
export function unreadBy({ projectId, readerId }: Reader): Sql {
  return sql`(
    finished_at > greatest(now() - ${UNREAD_DAYS} * interval '1 day',
      (select read_until from result_readers where project_id = ${projectId} and reader_id = ${readerId}))
    and not exists (select 1 from result_reads where run_id = runs.id and reader_id = ${readerId}))`;
}

/** Remembers results that a reader has read. Runs that are gone, or have not ended, are ignored. */
export async function markRead(
  database: Database,
  { projectId, readerId }: Reader,
  { runIds = [], until }: { readonly runIds?: readonly string[] | undefined; readonly until?: Date | undefined },
): Promise<void> {
  await transaction(database, async (tx) => {
    if (until !== undefined) {
      // Keep the marks of single runs until the next call, so that marking all can be undone.
      await tx.run`
        delete from result_reads using result_readers reader, runs
        where result_reads.reader_id = ${readerId} and runs.id = run_id and runs.project_id = ${projectId}
          and reader.project_id = ${projectId} and reader.reader_id = ${readerId} and finished_at <= reader.read_until
      `;
      await tx.run`
        insert into result_readers as reader (project_id, reader_id, read_until)
        values (${projectId}, ${readerId}, least(${until}, now()))
        on conflict (project_id, reader_id) do update set read_until = greatest(reader.read_until, excluded.read_until)
      `;
    }
    await tx.run`
      insert into result_reads (run_id, reader_id)
      select id, ${readerId} from runs
      where id = any(${runIds}) and project_id = ${projectId} and state in ('succeeded', 'failed')
      on conflict do nothing
    `;
  });
}

/**
 * Removes the marks of single runs, and moves the mark on all runs back to `since`; null removes that mark. A run
 * marked both ways stays read until both marks are removed.
 */
export async function markUnread(
  database: Database,
  { projectId, readerId }: Reader,
  { runIds = [], since }: { readonly runIds?: readonly string[] | undefined; readonly since?: Date | null | undefined },
): Promise<void> {
  await transaction(database, async (tx) => {
    if (since === null) {
      await tx.run`delete from result_readers where project_id = ${projectId} and reader_id = ${readerId}`;
    } else if (since !== undefined) {
      await tx.run`
        update result_readers set read_until = least(read_until, ${since})
        where project_id = ${projectId} and reader_id = ${readerId}
      `;
    }
    await tx.run`
      delete from result_reads using runs
      where reader_id = ${readerId} and run_id = any(${runIds}) and runs.id = run_id and runs.project_id = ${projectId}
    `;
  });
}

/** Deletes a person's marks in the projects of an organization that they leave. */
export async function forgetReader(
  tx: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  const projects = sql`select id from projects where organization_id = ${organizationId}`;
  await tx.run`
    with marks as (
      delete from result_reads using runs
      where reader_id = ${userId} and runs.id = run_id and runs.project_id in (${projects})
    )
    delete from result_readers where reader_id = ${userId} and project_id in (${projects})
  `;
}
