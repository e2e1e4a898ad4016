import { hasOwnRetention, type RetentionRule } from '#core/identity/index.ts';
import { hasOpenDelivery } from '#core/webhooks/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { dueOf, dueOfAll } from './batch.ts';
import { CONTENT, RUNS, type Stage } from './stage.ts';

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
