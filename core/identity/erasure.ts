import { execute, rows, sql, type Db } from '#lib/database/index.ts';

/** Projects looked at in one pass; in random order, so that one which has to wait keeps no other from its turn. */
const PROJECTS = 100;

/**
 * Time after which every request has ended that began before its project was deleted, and could still write into it.
 */
const LATE_WRITES = sql`interval '1 hour'`;

/** Finds deleted projects in which there may still be something that people wrote. */
export async function projectsToErase(db: Db): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`
      select id from projects where deleted_at is not null and erased_at is null
      order by random() limit ${PROJECTS}
    `,
  );
  return found.map(({ id }) => id);
}

/**
 * Records that nothing is left in these projects; not before late writes are impossible, so that they are found too.
 * @returns how many are done
 */
export function markErased(db: Db, ids: readonly string[]): Promise<number> {
  return execute(
    db,
    sql`
      update projects set erased_at = now(), notify_mail = null
      where id = any(${ids}) and deleted_at < now() - ${LATE_WRITES} and erased_at is null
    `,
  );
}
