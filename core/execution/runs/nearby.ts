import type { Db } from '#lib/database/index.ts';

/** Ids of the runs of the same routine that a reader of one goes to; each null where there is none. */
export interface Nearby {
  /** The newest earlier run that succeeded, or failed and has a result all the same. */
  readonly previousResultId: string | null;
  readonly nextResultId: string | null;
  /** The newest earlier run that succeeded. */
  readonly lastGoodRunId: string | null;
}

/**
 * Finds the results beside a run. Successes are entries of the index by state. Failures are looked for between the run
 * and the success beside it, since most have no result and a routine may have thousands.
 */
export async function findNearby(db: Db, run: { id: string; projectId: string; routineId: string }): Promise<Nearby> {
  const found = await db.row<Nearby>`
    with good as (
      select
        (select id from runs where routine_id = ${run.routineId} and project_id = ${run.projectId}
          and state = 'succeeded' and id < ${run.id} order by id desc limit 1) as before,
        (select id from runs where routine_id = ${run.routineId} and project_id = ${run.projectId}
          and state = 'succeeded' and id > ${run.id} order by id limit 1) as after
    )
    select good.before as "lastGoodRunId",
      coalesce((select id from runs where routine_id = ${run.routineId} and project_id = ${run.projectId}
        and state = 'failed' and result is not null and id < ${run.id} and id > coalesce(good.before, '')
        order by id desc limit 1), good.before) as "previousResultId",
      coalesce((select id from runs where routine_id = ${run.routineId} and project_id = ${run.projectId}
        and state = 'failed' and result is not null and id > ${run.id} and (good.after is null or id < good.after)
        order by id limit 1), good.after) as "nextResultId"
    from good
  `;
  return found ?? { previousResultId: null, nextResultId: null, lastGoodRunId: null };
}
