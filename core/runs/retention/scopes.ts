import { hasOwnRetention, type RetentionRule } from '#core/identity/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';
import { dueOf, type Scope } from './batch.ts';
import type { Stage } from './stage.ts';

/** Limit of projects with their own retention in one pass. */
const MAX_PROJECTS = 500;

/**
 * Finds the scopes that may have due runs at a stage: all projects by the operator's days, and each project that has
 * chosen fewer and has such runs. Those come in random order, so that one with a large backlog does not keep others
 * from their turn. Costs a look into an index for each project that has chosen.
 */
export async function findScopes(db: Db, stage: Stage, rule: RetentionRule): Promise<Scope[]> {
  const days = stage.daysOf(rule, sql`p`);
  const own = await rows<{ projectId: string; days: number }>(
    db,
    sql`
      select p.id as "projectId", ${days} as days
      from projects p cross join lateral (
        select from runs where ${stage.next} and ${dueOf(sql`p.id`)(days, undefined)}
        order by project_id, finished_at limit 1
      ) due
      where ${hasOwnRetention(sql`p`)}
      order by random() limit ${MAX_PROJECTS}
    `,
  );
  return [{ projectId: undefined, days: stage.daysOfAll(rule) }, ...own];
}
