import { applyRetention, type RetentionReport } from '#core/runs/index.ts';
import { execute, row, sql, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { newId } from '#lib/ids.ts';
import type { Planted } from '#test/scheduling/planted.ts';

/** The operator's rule in these tests, which is also the default. */
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
  /** Erased already. */
  readonly erased?: boolean;
}

/** Plants runs that ended some days ago, each with texts, a step and its entry in the ledger; returns their ids. */
export async function plantEndedRuns(
  database: Database,
  routine: Planted,
  { daysAgo, count = 1, state = 'succeeded', erased = false }: EndedRuns,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('run'));
  await execute(
    database,
    sql`
      with run as (
        insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
          timeout_seconds, prompt, result, step_count, input_tokens, output_tokens, finished_at, content_erased_at)
        select id, ${routine.organizationId}, ${routine.projectId}, ${routine.id}, 1, 'manual', ${state}, 5, 60, 'a prompt',
          'a result', 1, 100, 20, now() - ${daysAgo}::float8 * interval '1 day', case when ${erased}::boolean then now() end
        from unnest(${ids}::text[]) as id
        returning id, project_id, routine_id
      ), step as (
        insert into steps (run_id, index, project_id, kind, state, text, messages, input_tokens, output_tokens)
        select id, 0, project_id, 'model', 'succeeded', 'a text', '[]', 100, 20 from run
      )
      insert into usage_ledger (run_id, step_index, project_id, routine_id, model_id, total_tokens, occurred_at)
      select id, 0, project_id, routine_id, 'fixture/writer-small', 120, now() from run
    `,
  );
  return ids;
}

/** Plants a delivery of a run. */
export async function plantDelivery(
  database: Database,
  runId: string,
  state: 'pending' | 'sending' | 'delivered' | 'failed',
): Promise<string> {
  const id = newId('delivery');
  await execute(
    database,
    sql`
      with delivery as (
        insert into webhook_deliveries (id, project_id, routine_id, run_id, event_type, body, state, attempt_count,
          next_attempt_at, claimed_until)
        select ${id}, project_id, routine_id, id, 'run.succeeded', '{"secret":"body"}', ${state}, 1,
          case when ${state} in ('pending', 'sending') then now() + interval '1 hour' end, null
        from runs where id = ${runId}
        returning id
      )
      insert into webhook_attempts (delivery_id, index, started_at, status, response_excerpt)
      select id, 1, now(), 500, 'a response' from delivery
    `,
  );
  return id;
}

export interface Remains {
  /** Runs that are there, those that have their content, and what there is beside them. */
  readonly runs: number;
  readonly unerased: number;
  readonly texts: number;
  readonly steps: number;
  readonly bodies: number;
  readonly deliveries: number;
  readonly ledger: number;
}

/** Counts what is left of the runs of a project. */
export async function remainsOf(database: Database, projectId: string): Promise<Remains> {
  const found = await row<Remains>(
    database,
    sql`
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
    `,
  );
  return found!;
}
