import type { StartableRun } from '#core/runs/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';

/**
 * Takes the next runs to start, up to `limit`: each project's oldest first, and an equal share for each project, so
 * that one project's thousands stand behind another's ten. They are leased while their workflows are started, so that
 * overlapping ticks share them out. A manual run is started by the request that made it; it is taken here only when
 * that has not happened within ten seconds.
 *
 * Walks the index of waiting runs from project to project instead of ranking all that wait: ranked with a window
 * function, a fresh burst of 10,000 on the statistics of before it ran into the statement timeout of 30 s.
 */
export function leaseRuns(db: Db, limit: number): Promise<StartableRun[]> {
  return rows<StartableRun>(
    db,
    sql`
      with recursive waiting as (
        (select project_id, id from runs where ${startable} order by project_id, id limit 1)
        union all
        select next.project_id, next.id from waiting cross join lateral (
          select project_id, id from runs
          where ${startable} and project_id > waiting.project_id
          order by project_id, id limit 1
        ) next
      ), served as (
        select project_id from waiting order by id limit ${limit}
      ), chosen as (
        select run.id from served cross join lateral (
          select id from runs
          where ${startable} and project_id = served.project_id
          order by id limit (select greatest(${limit}::bigint / count(*), 1) from served)
          for update skip locked
        ) run
      )
      update runs set start_leased_until = now() + interval '30 seconds'
      from chosen where runs.id = chosen.id
      returning runs.id, project_id as "projectId", routine_id as "routineId", trigger,
        timeout_seconds as "timeoutSeconds"
    `,
  );
}

const startable = sql`
  state = 'queued' and workflow_started_at is null
  and (start_leased_until is null or start_leased_until < now())
  and (trigger = 'schedule' or created_at < now() - interval '10 seconds')
`;
