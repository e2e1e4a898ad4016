import { isWork } from '#core/foundation/engine/index.ts';
import type { PreviousRun } from '#core/execution/prompt/index.ts';
import { ownedBy, sql, type Sql } from '#lib/database/index.ts';

/** Ids of a routine and its project, as expressions of the statement that reads its run. */
interface RoutineKeys {
  readonly projectId: Sql;
  readonly routineId: Sql;
}

/** A previous run as JSON, where times are strings. */
export type PreviousRunJson = Omit<PreviousRun, 'finishedAt'> & { readonly finishedAt: string };

/** Selects the previous run of a routine as one JSON value, or null: the first entry of the index of ended runs. */
export function previousRunJson(run: RoutineKeys): Sql {
  return sql`(
    select json_build_object('finishedAt', p.finished_at, 'result', p.result) from runs p
    where ${ownedBy(sql`p.routine_id`, run.routineId)} and p.project_id = ${run.projectId} and p.state = 'succeeded'
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.routine_id, p.id desc limit 1
  )`;
}

export function previousRunOf({ finishedAt, result }: PreviousRunJson): PreviousRun {
  return { finishedAt: new Date(finishedAt), result: result === '' ? null : result };
}

export function asksForData(instructions: Sql): Sql {
  return sql`${instructions} ~ 'previous[.](data|changes)'`;
}

export function previousDataJson(run: RoutineKeys): Sql {
  return sql`(
    select json_build_object('data', p.data, 'changes', p.changes - 'by') from runs p
    where p.project_id = ${run.projectId} and p.routine_id = ${run.routineId} and p.data is not null
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.compared_at desc limit 1
  )`;
}

export function tellsQuestions(definition: Sql): Sql {
  return sql`(${definition} ->> 'mayAsk' = 'true' or position('answers' in ${definition} ->> 'instructions') > 0)`;
}

/** Number of the latest questions of a thread in the briefing. */
const MOST_OF_THREAD = 10;

/** The most characters of each earlier answer. */
const ANSWER_LENGTH = 4_000;

/** Selects the question of a follow-up as one JSON value, with its result and its thread. */
export function followUpJson(run: Sql): Sql {
  return sql`(
    select jsonb_build_object('message', ${run}.message, 'fenced', ${run}.values_fenced, 'result', began.result,
      'finishedAt', began.finished_at, 'thread', coalesce((
        select jsonb_agg(jsonb_build_object('message', t.message, 'answer', left(t.result, ${ANSWER_LENGTH}))
          order by t.id)
        from (
          select id, message, result from runs earlier
          where earlier.follows_up = ${run}.follows_up and earlier.project_id = ${run}.project_id
            and earlier.state = 'succeeded' and earlier.id < ${run}.id
          order by earlier.id desc limit ${MOST_OF_THREAD}
        ) t), '[]'))
    from (select 1) one
    left join runs began on began.id = ${run}.follows_up and began.project_id = ${run}.project_id
  )`;
}
