import type { Outcome } from '#core/authoring/outcomes/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { ownedBy, sql, type Db, type Sql } from '#lib/database/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { RunState } from '#core/execution/run-states/index.ts';

/** The most runs of one routine in a list of recent runs. */
export const MAX_RECENT = 20;

/** A recent run in a list: its end and its times. */
export interface RecentRun {
  readonly id: string;
  readonly state: RunState;
  readonly reason: string | null;
  readonly outcome: Outcome | null;
  /** Time at which the run began; for a run that has not begun, the time at which it was due or requested. */
  readonly at: string;
}

export interface LastEnded extends Omit<RecentRun, 'at'> {
  readonly outcomeSummary: string | null;
  readonly errorMessage: string | null;
  readonly resultPreview: string | null;
  readonly finishedAt: string | null;
}

interface RoutineRecentRuns {
  /** Id of the routine. */
  readonly id: string;
  /** The runs of the routine, newest first. */
  readonly runs: readonly RecentRun[];
  /** The last run that ended; null if none has ended. Skipped runs never ran, so they do not count. */
  readonly lastEnded: LastEnded | null;
}

const UTC = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/**
 * Reads the last runs of each routine of a page, in the order of `listRoutines`. Each routine costs four short
 * scans of an index, however many runs it has skipped.
 */
export function listRecentRuns(
  db: Db,
  projectId: string,
  { page, count }: { page: Page; count: number },
): Promise<RoutineRecentRuns[]> {
  return db.rows<RoutineRecentRuns>`
    select page.id, recent.runs, ended.run as "lastEnded"
    from (
      select id from routines where ${ownedBy(sql`project_id`, projectId)} ${afterCursor(page)}
      order by project_id, id desc limit ${page.limit + 1}
    ) page
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'state', state, 'reason', reason,
        'outcome', case when state = 'succeeded' then coalesce(outcome, 'done') end,
        'at', to_char(coalesce(started_at, scheduled_for, created_at) at time zone 'utc', ${UTC}))
        order by id desc), '[]') as runs
      from (
        select * from runs where ${ownedBy(sql`routine_id`, sql`page.id`)} and project_id = ${projectId}
        order by routine_id, id desc limit ${count}
      ) latest
    ) recent
    left join lateral (
      select jsonb_build_object('id', id, 'state', state, 'reason', reason,
        'outcome', case when state = 'succeeded' then coalesce(outcome, 'done') end,
        'outcomeSummary', outcome_summary, 'errorMessage', error_message,
        'resultPreview', left(result, 200),
        'finishedAt', to_char(finished_at at time zone 'utc', ${UTC})) as run
      from runs where project_id = ${projectId} and id = (
        select max(id) from (
          ${latestId(projectId, sql`'succeeded'`)} union all ${latestId(projectId, sql`'failed'`)}
          union all ${latestId(projectId, sql`'cancelled'`)}
        ) latest
      )
    ) ended on true
    order by page.id desc
  `;
}

/**
 * Selects the id of the latest run in a state. The state is a literal, so that Postgres can use the partial index of
 * ended runs.
 */
function latestId(projectId: string, state: Sql): Sql {
  return sql`(select id from runs
              where ${ownedBy(sql`routine_id`, sql`page.id`)} and project_id = ${projectId} and state = ${state}
                and ${isWork(sql`trigger`)}
              order by routine_id, id desc limit 1)`;
}
