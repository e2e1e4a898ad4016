import { rankOf, waiting } from '#core/execution/admission/index.ts';
import type { RunReason, RunState } from '#core/execution/run-states/index.ts';
import { ownedBy, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';

/** A row of `runs` for one occurrence that runs, or for one or more skipped occurrences. */
interface OccurrenceRow {
  readonly id: string;
  readonly routine_id: string;
  readonly state: Extract<RunState, 'queued' | 'skipped'>;
  readonly reason: RunReason | null;
  /** Details beyond the reason, in words. */
  readonly error_message: string | null;
  readonly scheduled_for: Date;
  readonly skipped_count: number | null;
  readonly skipped_until: Date | null;
  /** True when the run waits until no earlier run of the routine is open. */
  readonly after_previous: boolean;
}

/** Reasons that last. Consecutive occurrences with the same lasting reason share a row. */
const LASTING: readonly RunReason[] = [
  'overlap',
  'budget_exceeded',
  'allowance_exceeded',
  'provider_unavailable',
  'provider_disabled',
  'put_off',
];

/**
 * Records occurrences of routines that the transaction has locked. An occurrence that is skipped for the same lasting
 * reason as the previous one is added to the previous row, if that row is the latest run of the routine and the latest
 * of its schedule.
 * @returns the ids of the rows that were inserted
 */
export async function insertOccurrences(tx: Db, occurrences: readonly OccurrenceRow[]): Promise<ReadonlySet<string>> {
  if (occurrences.length === 0) return new Set();
  const inserted = await tx.rows<{ id: string }>`
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
      o.error_message, o.scheduled_for, o.skipped_count, o.skipped_until, r.model_provider, r.model_connection_id,
      r.model_id,
      r.max_steps, r.timeout_seconds, r.max_total_tokens, now() + r.max_queue_seconds * interval '1 second',
      o.after_previous, case when o.state = 'skipped' then now() end
    from occurrence o
    join routines r on r.id = o.routine_id
    join projects p on p.id = r.project_id
    where not exists (select from merged where merged.id = o.id)
    on conflict (routine_id, scheduled_for) where scheduled_for is not null do nothing
    returning id
  `;
  return new Set(inserted.map(({ id }) => id));
}

/** The longest wait of a backfill's run. The wait is long, because these runs start after all other runs. */
const QUEUE_FOR = sql`interval '7 days'`;

/** A run of a backfill, and its instant of the schedule. */
interface BackfillRun {
  readonly id: string;
  readonly scheduledFor: Date;
}

/** The runs recorded for an instant of a routine's schedule. */
interface OnRecord {
  readonly scheduledFor: Date;
  /** True when the instant has a scheduled or manual run that was not skipped, or when the gate saw no change. */
  readonly ran: boolean;
  /** The backfill run of the instant, and its backfill. */
  readonly backfillRunId: string | null;
  readonly backfillId: string | null;
}

/** Reads the runs recorded for each of these instants, in the order of the instants. */
export function readOnRecord(db: Db, routineId: string, instants: readonly Date[]): Promise<OnRecord[]> {
  return db.rows<OnRecord>`
    select instant as "scheduledFor", coalesce(occurrence.ran, false) or exists (
        select from runs repeated where repeated.routine_id = ${routineId} and repeated.trigger = 'manual'
          and repeated.stands_for = instant and repeated.state <> 'skipped') as ran,
      made.id as "backfillRunId", made.backfill_id as "backfillId"
    from unnest(${instants}::timestamptz[]) as instant
    left join lateral (
      -- The row that accounts for the instant is the latest one that begins no later; a streak of quiet runs is one.
      select case when state <> 'skipped' then scheduled_for = instant
        else reason = 'no_change' and skipped_until >= instant end as ran
      from runs where routine_id = ${routineId} and scheduled_for <= instant
      order by scheduled_for desc limit 1
    ) occurrence on true
    left join runs made
      on made.routine_id = ${routineId} and made.trigger = 'backfill' and made.stands_for = instant
    order by instant
  `;
}

export async function countWaitingBackfills(db: Db, organizationId: string): Promise<number> {
  const counted = await db.row<{ count: number }>`
    select count(*) as count from runs
    where ${waiting} and organization_id = ${organizationId} and ${rankOf(sql`runs`)} = 2
  `;
  return counted?.count ?? 0;
}

/** Inserts a run for each instant, the earliest first in line. The caller has locked the routine. */
export async function insertBackfill(
  tx: Db,
  { backfillId, routineId, instants, startedBy }: InsertedBackfill,
): Promise<BackfillRun[]> {
  const ids = instants.map(() => newId('run')).toSorted();
  return tx.rows<BackfillRun>`
    with inserted as (
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, backfill_id,
        stands_for, model_provider, model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens,
        queue_until, after_previous, started_by)
      select made.id, p.organization_id, r.project_id, r.id, r.revision, 'backfill', 'queued', ${backfillId},
        made.instant, r.model_provider, r.model_connection_id, r.model_id, r.max_steps, r.timeout_seconds,
        r.max_total_tokens, now() + ${QUEUE_FOR}, r.overlap <> 'allow', ${startedBy}
      from unnest(${ids}::text[], ${instants}::timestamptz[]) as made(id, instant)
      join routines r on r.id = ${routineId}
      join projects p on p.id = r.project_id
      returning id, stands_for
    )
    select id, stands_for as "scheduledFor" from inserted order by id
  `;
}

interface InsertedBackfill {
  readonly backfillId: string;
  readonly routineId: string;
  /** Scheduled instants, ascending. */
  readonly instants: readonly Date[];
  /** Ids of the API keys and consents that cause the runs, as in `ManualRun`. */
  readonly startedBy: string | null;
}
