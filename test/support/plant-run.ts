import type { RunState, Trigger } from '#core/runs/states.ts';
import { execute, sql, type Database } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';

/** Columns of a run that differ from those of one that a person has just started. */
export interface PlantedRun {
  /** By default a new one. */
  readonly id?: string;
  readonly trigger?: Trigger;
  readonly state?: RunState;
  /** By default the routine's latest. */
  readonly revision?: number;
  readonly maxSteps?: number;
  readonly timeoutSeconds?: number;
  readonly maxTotalTokens?: number | null;
  readonly queueUntil?: Date;
  readonly admittedAt?: Date;
  readonly startedAt?: Date;
  readonly workflowStartedAt?: Date;
  readonly finishedAt?: Date;
}

/**
 * Puts a run of a routine into the database, where nothing carries it out.
 * @returns its id
 */
export async function plantRun(
  database: Database,
  routineId: string,
  fields: PlantedRun = {},
): Promise<string> {
  const id = fields.id ?? newId('run');
  const planted = await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, model_provider,
        model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens, queue_until, admitted_at,
        started_at, workflow_started_at, finished_at)
      select ${id}, p.organization_id, p.id, r.id, coalesce(${fields.revision}::integer, r.revision),
        ${fields.trigger ?? 'manual'}, ${fields.state ?? 'queued'}, r.model_provider, r.model_connection_id, r.model_id,
        ${fields.maxSteps ?? 5}, ${fields.timeoutSeconds ?? 60}, ${fields.maxTotalTokens}::integer,
        ${fields.queueUntil}::timestamptz, ${fields.admittedAt}::timestamptz, ${fields.startedAt}::timestamptz,
        ${fields.workflowStartedAt}::timestamptz, ${fields.finishedAt}::timestamptz
      from routines r join projects p on p.id = r.project_id where r.id = ${routineId}
    `,
  );
  if (planted !== 1) throw new Error(`there is no routine ${routineId}`);
  return id;
}
