import type { Plan } from '#core/billing/index.ts';
import { execute, rows, sql, type Db } from '#lib/database/index.ts';

export interface DueRoutine {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly paidPlan: Plan | null;
  readonly schedule: string;
  readonly timezone: string;
  readonly provider: string;
  readonly overlap: 'skip' | 'allow';
  readonly misfire: 'run_once' | 'skip';
  readonly maxTokensPerDay: number | null;
  readonly maxCostUsdPerMonth: string | null;
  readonly dueAt: Date;
  /** The latest occurrence that is on record, run or passed over. */
  readonly accountedUntil: Date | null;
  /** The database's, so that ticks on machines whose clocks differ agree. */
  readonly now: Date;
}

/** Locks the routines that are due, longest due first, leaving out those that another tick holds. */
export function lockDueRoutines(tx: Db, batchSize: number): Promise<DueRoutine[]> {
  return rows<DueRoutine>(
    tx,
    sql`
      with due as (
        -- Limited and locked before anything is joined: what is looked up then is looked up for one batch only.
        select id, project_id, schedule, timezone, model_provider, overlap, misfire, max_tokens_per_day,
          max_cost_usd_per_month, next_run_at
        from routines
        where state = 'active' and next_run_at <= now()
        order by next_run_at
        limit ${batchSize}
        -- The foreign key of a run that is put on record meanwhile must not wait for this lock.
        for no key update skip locked
      )
      select due.id, due.project_id as "projectId", p.organization_id as "organizationId",
        o.paid_plan as "paidPlan", due.schedule, due.timezone, due.model_provider as provider, due.overlap,
        due.misfire, due.max_tokens_per_day as "maxTokensPerDay",
        due.max_cost_usd_per_month::text as "maxCostUsdPerMonth", due.next_run_at as "dueAt",
        last.until as "accountedUntil", now() as now
      from due
      join projects p on p.id = due.project_id
      join organizations o on o.id = p.organization_id
      left join lateral (
        select coalesce(skipped_until, scheduled_for) as until from runs
        where routine_id = due.id and scheduled_for is not null
        order by scheduled_for desc limit 1
      ) last on true
      order by due.next_run_at
    `,
  );
}

/** Milliseconds until the next routine is due, when that is within two seconds; not positive for one that is due. */
export async function dueWithinSeconds(db: Db): Promise<number | undefined> {
  const [soon] = await rows<{ ms: number | null }>(
    db,
    sql`
      select (extract(epoch from min(next_run_at) - now()) * 1000)::float8 as ms from routines
      where state = 'active' and next_run_at <= now() + interval '2 seconds'
    `,
  );
  return soon?.ms ?? undefined;
}

/** Writes the next times of routines whose rows the transaction holds. */
export async function setNextTimes(
  tx: Db,
  next: readonly { readonly id: string; readonly next: Date }[],
): Promise<number> {
  return execute(
    tx,
    sql`
      update routines r set next_run_at = n.next
      from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
      where r.id = n.id
    `,
  );
}

/** Pauses routines whose stored schedule this process cannot compute, and says so. */
export async function pauseUnreadable(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    tx,
    sql`
      update routines set state = 'paused', next_run_at = null, version = version + 1, updated_at = now(),
        state_reason = 'paused because its schedule has no computable next time; save the schedule again'
      where id = any(${ids})
    `,
  );
}
