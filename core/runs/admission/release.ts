import { execute, sql, type Db } from '#lib/database/index.ts';

/** Runs released in one statement, so that no transaction holds many. */
const BATCH = 1_000;

/** Releases the runs whose `runAt` has come: they wait for admission like all others. */
export async function releaseDue(db: Db): Promise<void> {
  while (
    (await execute(
      db,
      sql`
        with due as (
          select id from runs where held and state = 'queued' and run_at <= now()
          order by run_at limit ${BATCH}
          for no key update skip locked
        )
        update runs set held = false from due where runs.id = due.id
      `,
    )) === BATCH
  );
}
