import type { RunReason } from '#core/runs/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { Decision, PassedOver } from './occurrence.ts';

/** A row of `runs` for one occurrence that runs, or for one or more that were passed over. */
export interface OccurrenceRow {
  readonly id: string;
  readonly routine_id: string;
  readonly state: 'queued' | 'skipped';
  readonly reason: RunReason | null;
  readonly scheduled_for: Date;
  readonly skipped_count: number | null;
  readonly skipped_until: Date | null;
}

/** The rows that a decision comes to; `reason` is why the occurrence that would run does not. */
export function occurrenceRows(
  routineId: string,
  { run, missed }: Pick<Decision, 'run' | 'missed'>,
  reason: RunReason | undefined,
): OccurrenceRow[] {
  const row = (scheduledFor: Date) => ({
    id: newId('run'),
    routine_id: routineId,
    scheduled_for: scheduledFor,
  });
  const skipped = ({ count, from, until }: PassedOver, why: RunReason): OccurrenceRow => ({
    ...row(from),
    state: 'skipped',
    reason: why,
    skipped_count: count,
    skipped_until: until,
  });
  const found = missed === undefined ? [] : [skipped(missed, 'misfire')];
  if (run === undefined) return found;
  if (reason !== undefined) return [...found, skipped({ count: 1, from: run, until: run }, reason)];
  const queued: OccurrenceRow = {
    ...row(run),
    state: 'queued',
    reason: null,
    skipped_count: null,
    skipped_until: null,
  };
  return [...found, queued];
}

export async function insertOccurrences(
  tx: Db,
  occurrences: readonly OccurrenceRow[],
): Promise<void> {
  if (occurrences.length === 0) return;
  await execute(
    tx,
    sql`
      insert into runs (id, project_id, routine_id, routine_revision, trigger, state, reason, scheduled_for,
        skipped_count, skipped_until, model_provider, model_connection_id, model_id,
        max_steps, timeout_seconds, max_total_tokens, finished_at)
      select o.id, r.project_id, r.id, r.revision, 'schedule', o.state, o.reason, o.scheduled_for,
        o.skipped_count, o.skipped_until, r.model_provider, r.model_connection_id, r.model_id,
        r.max_steps, r.timeout_seconds, r.max_total_tokens, case when o.state = 'skipped' then now() end
      from jsonb_to_recordset(${JSON.stringify(occurrences)}::jsonb) as o(id text, routine_id text, state text,
        reason text, scheduled_for timestamptz, skipped_count integer, skipped_until timestamptz)
      join routines r on r.id = o.routine_id
      on conflict (routine_id, scheduled_for) where scheduled_for is not null do nothing
    `,
  );
}
