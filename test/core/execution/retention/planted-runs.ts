import { applyRetention, type RetentionReport } from '#core/execution/retention/index.ts';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import type { Planted } from '#test/core/scheduling/planted.ts';
import {
  ago,
  ahead,
  plantAttempt,
  plantDeliveries,
  plantRuns,
  plantSpending,
  plantSteps,
} from '#test/support/given.ts';

/** The operator's rule in these tests, equal to the default. */
export const RULE = { contentDays: 90, runDays: 400 };

const log = createLog({ level: 'silent', name: 'test' });

/** Applies retention until nothing is due. */
export function retain(database: Database, signal = new AbortController().signal) {
  return applyRetention({ database, retention: RULE, log }, { forMs: 120_000, signal });
}

export const NOTHING: RetentionReport = { erased: 0, deleted: 0 };

export interface EndedRuns {
  readonly daysAgo: number;
  readonly count?: number;
  readonly state?: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
  /** True for runs that are erased already. */
  readonly erased?: boolean;
}

/** Plants runs that ended some days ago, each with texts, a step and a row in the ledger; returns their ids. */
export async function plantEndedRuns(
  database: Database,
  routine: Planted,
  { daysAgo, count = 1, state = 'succeeded', erased = false }: EndedRuns,
): Promise<string[]> {
  const used = { inputTokens: 100, outputTokens: 20 };
  const ids = await plantRuns(database, routine.id, count, {
    ...used,
    state,
    prompt: 'a prompt',
    result: 'a result',
    stepCount: 1,
    finishedAt: ago(`${daysAgo} days`),
    contentErasedAt: erased ? AT_ONCE : null,
  });
  await plantSteps(database, ids, { ...used, text: 'a text', messages: '[]' });
  await plantSpending(database, ids);
  return ids;
}

/** Plants a delivery of a run. */
export async function plantDelivery(
  database: Database,
  runId: string,
  state: 'pending' | 'sending' | 'delivered' | 'failed',
): Promise<string> {
  const found = await database.row<{
    routineId: string;
  }>`select routine_id as "routineId" from runs where id = ${runId}`;
  const [id] = await plantDeliveries(database, found!.routineId, {
    runId,
    state,
    body: '{"secret":"body"}',
    attemptCount: 1,
    nextAttemptAt: ['pending', 'sending'].includes(state) ? ahead('1 hour') : null,
  });
  await plantAttempt(database, id!);
  return id!;
}

export interface Remains {
  /** Counts of the runs, of those with content, and of the rows that belong to them. */
  readonly runs: number;
  readonly unerased: number;
  readonly texts: number;
  readonly steps: number;
  readonly bodies: number;
  readonly deliveries: number;
  readonly ledger: number;
}

/** Counts the remaining rows of a project's runs. */
export async function remainsOf(database: Database, projectId: string): Promise<Remains> {
  const found = await database.row<Remains>`
    select
      (select count(*) from runs where project_id = ${projectId}) as runs,
      (select count(*) from runs where project_id = ${projectId} and content_erased_at is null) as unerased,
      (select count(*) from runs where project_id = ${projectId} and (prompt is not null or result is not null))
        + (select count(*) from steps
            where project_id = ${projectId} and (text is not null or messages is not null)) as texts,
      (select count(*) from steps where project_id = ${projectId}) as steps,
      (select count(*) from webhook_deliveries where project_id = ${projectId} and body is not null) as bodies,
      (select count(*) from webhook_deliveries where project_id = ${projectId}) as deliveries,
      (select count(*) from usage_ledger where project_id = ${projectId}) as ledger
  `;
  return found!;
}
