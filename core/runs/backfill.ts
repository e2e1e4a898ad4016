import { newId } from '#lib/ids.ts';
import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { rankOf, waiting } from '#core/admission/index.ts';

/** Time that a run of a backfill may wait for its turn, which comes after everything else. */
const QUEUE_FOR = sql`interval '7 days'`;

/** A run of a backfill and the instant of the schedule that it makes up for. */
export interface BackfillRun {
  readonly id: string;
  readonly scheduledFor: Date;
}

/** The runs recorded for an instant of a routine's schedule. */
export interface OnRecord {
  readonly scheduledFor: Date;
  /**
   * True when the instant has a run, by schedule or by hand, that was not skipped, or when the gate saw no change then.
   */
  readonly ran: boolean;
  /** The backfill run of the instant, and the backfill that it belongs to. */
  readonly backfillRunId: string | null;
  readonly backfillId: string | null;
}

/** Reads the runs recorded for each of these instants, in their order. */
export function readOnRecord(
  db: Db,
  routineId: string,
  instants: readonly Date[],
): Promise<OnRecord[]> {
  return rows<OnRecord>(
    db,
    sql`
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
    `,
  );
}

/** Counts the backfill runs that wait in an organization. */
export async function countWaitingBackfills(db: Db, organizationId: string): Promise<number> {
  const counted = await row<{ count: number }>(
    db,
    sql`
      select count(*) as count from runs
      where ${waiting} and organization_id = ${organizationId} and ${rankOf(sql`runs`)} = 2
    `,
  );
  return counted?.count ?? 0;
}

/**
 * Inserts a run for each instant, the earliest first in line, with the routine's present version. The transaction has
 * locked the routine.
 */
export async function insertBackfill(
  tx: Db,
  { backfillId, routineId, instants }: InsertedBackfill,
): Promise<BackfillRun[]> {
  const ids = instants.map(() => newId('run')).toSorted();
  return rows<BackfillRun>(
    tx,
    sql`
      with inserted as (
        insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, backfill_id,
          stands_for, model_provider, model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens,
          queue_until, after_previous)
        select made.id, p.organization_id, r.project_id, r.id, r.revision, 'backfill', 'queued', ${backfillId},
          made.instant, r.model_provider, r.model_connection_id, r.model_id, r.max_steps, r.timeout_seconds,
          r.max_total_tokens, now() + ${QUEUE_FOR}, r.overlap <> 'allow'
        from unnest(${ids}::text[], ${instants}::timestamptz[]) as made(id, instant)
        join routines r on r.id = ${routineId}
        join projects p on p.id = r.project_id
        returning id, stands_for
      )
      select id, stands_for as "scheduledFor" from inserted order by id
    `,
  );
}

export interface InsertedBackfill {
  readonly backfillId: string;
  readonly routineId: string;
  /** Instants, ascending. */
  readonly instants: readonly Date[];
}
