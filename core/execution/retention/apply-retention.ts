import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '#core/core.ts';
import { hasOwnRetention, type RetentionRule } from '#core/accounts/settings/index.ts';
import { isUnavailable, sql, type Db } from '#lib/database/index.ts';
import { applyToBatch, dueOf, type RetentionScope } from './due.ts';
import { CONTENT, RUNS, type Stage } from './stages.ts';

export interface RetentionDeps extends Pick<Core, 'database' | 'log'> {
  readonly retention: RetentionRule;
}

export interface RetentionReport {
  readonly erased: number;
  readonly deleted: number;
}

/**
 * Erases the content of runs and deletes runs at the end of their retention, for `forMs` at most. Each stage gets half
 * of the time, and the unused time of the other stage. The next pass continues; passes of several processes share the
 * work. Stops between two batches when `signal` aborts.
 * @throws the first error of a scope, after the work on all other scopes
 */
export async function applyRetention(
  deps: RetentionDeps,
  { forMs, signal }: { forMs: number; signal: AbortSignal },
): Promise<RetentionReport> {
  const faults: unknown[] = [];
  const end = performance.now() + forMs;
  let erased = await pass(deps, CONTENT, { end: end - forMs / 2, signal }, faults);
  const deleted = await pass(deps, RUNS, { end, signal }, faults);
  if (faults.length === 0) erased += await pass(deps, CONTENT, { end, signal }, faults);
  if (erased + deleted > 0) deps.log.info({ erased, deleted }, 'retention');
  if (faults.length > 0) throw faults[0];
  return { erased, deleted };
}

/** Takes a batch of each scope in turn until nothing is due or time is over. A scope that fails leaves the pass. */
async function pass(
  { database, retention }: RetentionDeps,
  stage: Stage,
  { end, signal }: { end: number; signal: AbortSignal },
  faults: unknown[],
): Promise<number> {
  let total = 0;
  signal.throwIfAborted();
  const scopes = await findScopes(database, stage, retention);
  let open: readonly Progress[] = scopes.map((scope) => ({ scope, from: undefined }));
  while (open.length > 0) {
    const left: Progress[] = [];
    for (const { scope, from } of open) {
      signal.throwIfAborted();
      const started = performance.now();
      if (started > end) return total;
      try {
        const batch = await applyToBatch(database, stage, scope, from);
        total += batch.done;
        if (batch.more) left.push({ scope, from: batch.until });
      } catch (error) {
        if (isUnavailable(error)) throw error;
        faults.push(error);
      }
      // Pauses as long as the batch took, at most a second, so that others get to Postgres.
      await sleep(Math.min(performance.now() - started, 1_000), undefined, { signal });
    }
    open = left;
  }
  return total;
}

interface Progress {
  readonly scope: RetentionScope;
  readonly from: Date | undefined;
}

/** Number of projects with their own retention that one pass serves. */
const MAX_PROJECTS = 500;

/**
 * Finds the scopes that may have due runs: all projects by the operator's days, and each project that chose fewer days
 * and has due runs. The order of the scopes is random, so that one large backlog does not keep others from their turn.
 */
export async function findScopes(db: Db, stage: Stage, rule: RetentionRule): Promise<RetentionScope[]> {
  const days = stage.daysOf(rule, sql`p`);
  const own = await db.rows<{ projectId: string; days: number }>`
    select p.id as "projectId", ${days} as days
    from projects p cross join lateral (
      select from runs where ${stage.next} and ${dueOf(sql`p.id`)(days, undefined)}
      order by project_id, finished_at limit 1
    ) due
    where ${hasOwnRetention(sql`p`)}
    order by random() limit ${MAX_PROJECTS}
  `;
  return [{ projectId: undefined, days: stage.daysOfAll(rule) }, ...own];
}
