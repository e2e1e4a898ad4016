import { MEDIAN_OF_RUNS } from '#core/authoring/definition/index.ts';
import type { Usage } from '#core/foundation/cost/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { now } from '#lib/clock.ts';
import { ownedBy, sql, type Db, type Sql } from '#lib/database/index.ts';
import { firstIdAt } from '#lib/ids.ts';

export interface VersionKey {
  readonly projectId: string;
  readonly routineId: string;
  readonly revision: number;
}

/** Usage of a run that has ended. */
export interface UsedByRun extends Omit<Usage, 'estimated'> {
  readonly id: string;
  /** Cost in US dollars at the prices that applied during the run; null without prices. */
  readonly costUsd: string | null;
}

/** Number of latest runs that are read in each state. Runs of older versions among them do not count. */
const LATEST = 100;

/** Reads the latest runs of a version that succeeded, or failed after a paid call of their model, the latest first. */
export function usageOfVersion(db: Db, version: VersionKey): Promise<UsedByRun[]> {
  return db.rows<UsedByRun>`
    select id, input_tokens as "inputTokens", cached_input_tokens as "cachedInputTokens",
      output_tokens as "outputTokens", reasoning_tokens as "reasoningTokens", trim_scale(cost_usd)::text as "costUsd"
    from (
      (${latest(version, sql`'succeeded'`)}) union all (${latest(version, sql`'failed'`)})
    ) latest
    where routine_revision = ${version.revision} and input_tokens + output_tokens > 0
    order by id desc
  `;
}

export interface MedianOfRuns {
  /** Number of runs in the median. */
  readonly runs: number;
  readonly tokens: number;
  /** Cost in US dollars as a decimal string; null when one of the runs has no cost. */
  readonly costUsd: string | null;
}

/** Reads the median of the latest successful runs of a version. The median defines normal usage. */
export async function medianOfVersion(db: Db, version: VersionKey): Promise<MedianOfRuns> {
  const found = await db.row<MedianOfRuns>`
    select count(*) as runs, coalesce(percentile_disc(0.5) within group (order by tokens), 0)::bigint as tokens,
      case when count(cost_usd) = count(*)
        then trim_scale(percentile_disc(0.5) within group (order by cost_usd))::text end as "costUsd"
    from (
      select input_tokens + output_tokens as tokens, cost_usd from (${latest(version, sql`'succeeded'`)}) latest
      where routine_revision = ${version.revision} order by id desc limit ${MEDIAN_OF_RUNS}
    ) recent
  `;
  if (found === undefined) throw new Error('no median from the database');
  return found;
}

/**
 * Selects the latest runs in a state. The state is a literal, because the condition of the index of ended runs names
 * states.
 */
function latest({ projectId, routineId }: VersionKey, state: Sql): Sql {
  return sql`
        select id, routine_revision, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd
        from runs
        where ${ownedBy(sql`routine_id`, routineId)} and project_id = ${projectId} and state = ${state}
          and ${isWork(sql`trigger`)}
        order by routine_id, id desc limit ${LATEST}`;
}

export function countRuns(
  db: Db,
  { projectId, routineId }: Pick<VersionKey, 'projectId' | 'routineId'>,
  days: number,
): Promise<number> {
  const since = firstIdAt('run', new Date(now() - days * 86_400_000));
  return db.value<number>`
    select count(*) as count from runs
    where ${ownedBy(sql`routine_id`, routineId)} and project_id = ${projectId} and id >= ${since}
      and skipped_count is null
  `;
}
