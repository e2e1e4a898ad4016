import { ownedBy, rows, sql, type Db } from '#lib/database/index.ts';
import type { RunReason, RunState } from '#core/run-states/index.ts';

/** A row of `runs` for one occurrence that runs, or for one or more that are skipped. */
export interface OccurrenceRow {
  readonly id: string;
  readonly routine_id: string;
  readonly state: Extract<RunState, 'queued' | 'skipped'>;
  readonly reason: RunReason | null;
  /** Detail beyond the reason. */
  readonly error_message: string | null;
  readonly scheduled_for: Date;
  readonly skipped_count: number | null;
  readonly skipped_until: Date | null;
  /** True when it waits until no earlier run of the routine is open. */
  readonly after_previous: boolean;
}

/** Lasting reasons: consecutive occurrences that are skipped for one of them become one row. */
const LASTING: readonly RunReason[] = [
  'overlap',
  'budget_exceeded',
  'allowance_exceeded',
  'provider_unavailable',
  'provider_disabled',
];

/**
 * Records occurrences of routines that the transaction has locked. An occurrence that is skipped for the same lasting
 * reason as the one before is added to that row, as long as nothing else has happened to the routine since: the row
 * then is its latest run, and the latest of its schedule too.
 * @returns the ids of the rows that were inserted
 */
export async function insertOccurrences(
  tx: Db,
  occurrences: readonly OccurrenceRow[],
): Promise<ReadonlySet<string>> {
  if (occurrences.length === 0) return new Set();
  const inserted = await rows<{ id: string }>(
    tx,
    sql`
      with occurrence as (
        select * from jsonb_to_recordset(${JSON.stringify(occurrences)}::jsonb) as o(id text, routine_id text, state text,
          reason text, error_message text, scheduled_for timestamptz, skipped_count integer, skipped_until timestamptz,
          after_previous boolean)
      ), merged as (
        update runs set
          skipped_count = runs.skipped_count + o.skipped_count,
          skipped_until = o.skipped_until,
          error_message = o.error_message,
          finished_at = now()
        from occurrence o cross join lateral (
          select id from runs where ${ownedBy(sql`routine_id`, sql`o.routine_id`)}
          order by routine_id, id desc limit 1
        ) latest
        where runs.id = latest.id and o.reason = any(${LASTING}) and runs.reason = o.reason and runs.state = 'skipped'
          and runs.skipped_until < o.scheduled_for
          and not exists (
            select from runs later where later.routine_id = o.routine_id and later.scheduled_for > runs.scheduled_for)
          and not exists (
            select from occurrence earlier
            where earlier.routine_id = o.routine_id and earlier.scheduled_for < o.scheduled_for)
        returning o.id
      )
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, reason,
        error_message, scheduled_for, skipped_count, skipped_until, model_provider, model_connection_id, model_id,
        max_steps, timeout_seconds, max_total_tokens, queue_until, after_previous, finished_at)
      select o.id, p.organization_id, r.project_id, r.id, r.revision, 'schedule', o.state, o.reason,
        o.error_message, o.scheduled_for, o.skipped_count, o.skipped_until, r.model_provider, r.model_connection_id, r.model_id,
        r.max_steps, r.timeout_seconds, r.max_total_tokens, now() + r.max_queue_seconds * interval '1 second',
        o.after_previous, case when o.state = 'skipped' then now() end
      from occurrence o
      join routines r on r.id = o.routine_id
      join projects p on p.id = r.project_id
      where not exists (select from merged where merged.id = o.id)
      on conflict (routine_id, scheduled_for) where scheduled_for is not null do nothing
      returning id
    `,
  );
  return new Set(inserted.map(({ id }) => id));
}
