import { hasOwnRetention, type RetentionRule } from '#core/accounts/settings/index.ts';
import { hasOpenDelivery } from '#core/delivery/webhooks/index.ts';
import { sql, transaction, type Database, type Sql } from '#lib/database/index.ts';
import { CONTENT, RUNS, type Stage } from './stages.ts';

/** Runs with the same retention: of one project that chose its own days, or of all projects. */
export interface RetentionScope {
  readonly projectId: string | undefined;
  /** Days for which the runs are kept after their end. */
  readonly days: number;
}

export interface Batch {
  readonly done: number;
  /** Time at which the last examined run ended. The next batch begins there. */
  readonly until: Date | undefined;
  /** True when more rows of the scope may be due. */
  readonly more: boolean;
}

/** Number of runs in one transaction. A batch takes some ten milliseconds, so no writer waits long for its rows. */
const BATCH = 200;

/**
 * Takes one batch of due runs through a stage in one transaction, oldest first, and skips locked runs.
 * @param from the `until` of the previous batch, so that a pass reads erased runs at the beginning of the index only
 * once
 */
export function applyToBatch(
  database: Database,
  stage: Stage,
  scope: RetentionScope,
  from: Date | undefined,
): Promise<Batch> {
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
export function selectDue(stage: Stage, { projectId, days }: RetentionScope, from: Date | undefined): Sql {
  const due = projectId === undefined ? dueOfAll : dueOf(sql`${projectId}`);
  return sql`
    select id, finished_at as "finishedAt" from runs
    where ${stage.next} and ${due(sql`${days}::integer`, from)}
      and not ${hasOpenDelivery(sql`runs.id`)}
    order by ${projectId === undefined ? sql`finished_at` : sql`project_id, finished_at`} limit ${BATCH}
    for update of runs skip locked
  `;
}

function dueOfAll(days: Sql, from: Date | undefined): Sql {
  return sql`finished_at < ${daysAgo(days)} and finished_at >= ${from ?? '-infinity'}::timestamptz`;
}

/**
 * The condition of `dueOfAll` for the runs of one project. The condition compares rows, so that Postgres can use only
 * the index of projects: a planner with wrong statistics read the runs of all other projects.
 */
export function dueOf(projectId: Sql): typeof dueOfAll {
  return (days, from) => sql`finished_at is not null
    and (project_id, finished_at) < (${projectId}, ${daysAgo(days)})
    and (project_id, finished_at) >= (${projectId}, ${from ?? '-infinity'}::timestamptz)`;
}

function daysAgo(days: Sql): Sql {
  return sql`now() - ${days} * interval '1 day'`;
}

/** Returns the seconds by which the oldest due run of each stage is late, as an SQL expression; 0 when none is due. */
export function retentionBacklog(rule: RetentionRule): Readonly<Record<Stage['name'], Sql>> {
  return { content: overdueSeconds(CONTENT, rule), runs: overdueSeconds(RUNS, rule) };
}

/**
 * Looks at the oldest run of all projects, and of each project that chose its own days, at the beginning of an index.
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
