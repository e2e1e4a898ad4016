import { hasOwnRetention, type RetentionRule } from '#core/accounts/settings/index.ts';
import { hasOpenDelivery } from '#core/delivery/webhooks/index.ts';
import { sql, transaction, type Database, type Sql } from '#lib/database/index.ts';
import { CONTENT, RUNS, type Stage } from './stages.ts';

/** Runs with the same retention: those of a project that has chosen its own, or those of all projects. */
export interface Scope {
  readonly projectId: string | undefined;
  /** Days that they are kept after their end. */
  readonly days: number;
}

export interface Batch {
  readonly done: number;
  /** End of the last run that was examined, where the next batch begins. */
  readonly until: Date | undefined;
  /** True when more rows of the scope may be due. */
  readonly more: boolean;
}

/**
 * Runs of one transaction: for runs of a few steps it takes some ten milliseconds, so that no writer waits long for
 * their rows.
 */
const BATCH = 200;

/**
 * Takes one batch of due runs through a stage, oldest first, in one transaction; runs that another transaction has
 * locked are passed by. What a crash leaves undone is due again.
 * @param from the `until` of the batch before: the entries of erased runs at the beginning of the index are walked
 *   once
 */
export function applyToBatch(database: Database, stage: Stage, scope: Scope, from: Date | undefined): Promise<Batch> {
  return transaction(database, async (tx) => {
    const due = await tx.rows<{ id: string; finishedAt: Date }>`${selectDue(stage, scope, from)}`;
    const last = due.at(-1);
    if (last === undefined) return { done: 0, until: from, more: false };
    const done = await stage.apply(
      tx,
      due.map(({ id }) => id),
    );
    return { done, until: last.finishedAt, more: due.length === BATCH && done > 0 };
  });
}

/** Selects and locks due runs, in the order of the stage's index. */
export function selectDue(stage: Stage, { projectId, days }: Scope, from: Date | undefined): Sql {
  const due = projectId === undefined ? dueOfAll : dueOf(sql`${projectId}`);
  return sql`
    select id, finished_at as "finishedAt" from runs
    where ${stage.next} and ${due(sql`${days}::integer`, from)}
      and not ${hasOpenDelivery(sql`runs.id`)}
    order by ${projectId === undefined ? sql`finished_at` : sql`project_id, finished_at`} limit ${BATCH}
    for update of runs skip locked
  `;
}

/** Returns an SQL condition on ended runs: the run ended at least so many days ago, and not before `from`. */
function dueOfAll(days: Sql, from: Date | undefined): Sql {
  return sql`finished_at < ${daysAgo(days)} and finished_at >= ${from ?? '-infinity'}::timestamptz`;
}

/**
 * Returns the same condition for the runs of one project. It compares rows, for which only the index of projects will
 * do: where the planner took every run to be one of this project, it read all runs that others have kept.
 */
export function dueOf(projectId: Sql): typeof dueOfAll {
  return (days, from) => sql`finished_at is not null
    and (project_id, finished_at) < (${projectId}, ${daysAgo(days)})
    and (project_id, finished_at) >= (${projectId}, ${from ?? '-infinity'}::timestamptz)`;
}

function daysAgo(days: Sql): Sql {
  return sql`now() - ${days} * interval '1 day'`;
}

/**
 * Returns the backlog of retention, as SQL expressions: seconds by which the oldest due run is past its days; 0 when
 * none is.
 */
export function retentionBacklog(rule: RetentionRule): Readonly<Record<Stage['name'], Sql>> {
  return { content: overdueSeconds(CONTENT, rule), runs: overdueSeconds(RUNS, rule) };
}

/**
 * Looks at the oldest run of all projects, and at that of each project that has chosen for itself, as a pass does: at
 * the beginning of an index each.
 */
function overdueSeconds(stage: Stage, rule: RetentionRule): Sql {
  const days = stage.daysOf(rule, sql`p`);
  const daysOfAll = sql`${stage.daysOfAll(rule)}::integer`;
  const settled = sql`not ${hasOpenDelivery(sql`runs.id`)}`;
  return sql`
    coalesce(greatest(
      (select ${secondsPast(daysOfAll)} from runs
        where ${stage.next} and ${dueOfAll(daysOfAll, undefined)} and ${settled}
        order by finished_at limit 1),
      (select max(due.seconds) from projects p cross join lateral (
          select ${secondsPast(days)} as seconds from runs
          where ${stage.next} and ${dueOf(sql`p.id`)(days, undefined)} and ${settled}
          order by project_id, finished_at limit 1
        ) due
        where ${hasOwnRetention(sql`p`)})
    ), 0)`;
}

function secondsPast(days: Sql): Sql {
  return sql`extract(epoch from now() - finished_at - ${days} * interval '1 day')::float8`;
}
