import { ownedBy, sql, type Sql } from '#lib/database/index.ts';

/** The latest run of a routine that succeeded. A backfill makes up for past times, so it is no run's previous one. */
export interface PreviousRun {
  readonly finishedAt: Date;
  /** Null when it is no longer kept; a run cannot succeed without a result. */
  readonly result: string | null;
}

/** A previous run as JSON, where times are strings. */
export type PreviousRunJson = Omit<PreviousRun, 'finishedAt'> & { readonly finishedAt: string };

/**
 * Selects the previous run of a routine as one JSON value, null where there is none: the first entry of the index of
 * ended runs, as part of a statement that reads more of the run.
 */
export function previousRunJson(run: { projectId: Sql; routineId: Sql }): Sql {
  return sql`(
    select json_build_object('finishedAt', p.finished_at, 'result', p.result) from runs p
    where ${ownedBy(sql`p.routine_id`, run.routineId)} and p.project_id = ${run.projectId} and p.state = 'succeeded'
      and p.trigger <> 'backfill'
    order by p.routine_id, p.id desc limit 1
  )`;
}

export function previousRunOf({ finishedAt, result }: PreviousRunJson): PreviousRun {
  return { finishedAt: new Date(finishedAt), result: result === '' ? null : result };
}
