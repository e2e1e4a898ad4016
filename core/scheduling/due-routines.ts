import { paidPlanOf } from '#core/accounts/organizations/index.ts';
import type { Plan } from '#core/accounts/billing/index.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import type { Timing } from '#core/foundation/timetable/index.ts';
import { accountOf, breakerIsOpen } from '#core/execution/breaker/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { empty, sql, type Db } from '#lib/database/index.ts';

export interface DueRoutine extends Timing {
  readonly projectId: string;
  readonly organizationId: string;
  readonly paidPlan: Plan | null;
  readonly provider: string;
  /** The model account that its runs use, and whether the breaker of that account was open a moment ago. */
  readonly account: string;
  readonly breakerOpen: boolean;
  readonly overlap: Routine['overlap'];
  readonly misfire: Routine['misfire'];
  readonly budgets: Budgets;
  /** The instant before which its occurrences are skipped; null for none. */
  readonly notBefore: Date | null;
  /** Next time of the routine, including its jitter. */
  readonly dueAt: Date;
  /** Latest recorded occurrence, run or skipped. */
  readonly accountedUntil: Date | null;
  /** The database's time, so that ticks agree on machines whose clocks differ. */
  readonly now: Date;
}

/**
 * Locks due routines, the longest due first, and skips those that another tick has locked.
 * @param except ids of routines to leave out, because their claim has failed
 */
export function lockDueRoutines(tx: Db, batchSize: number, except: readonly string[] = []): Promise<DueRoutine[]> {
  return tx.rows<DueRoutine>`
    with due as (
      -- Limited and locked before the joins, so that they look up one batch only.
      select id, project_id, schedule, timezone, starts_at, ends_at, skip_dates, jitter_seconds, model_provider,
      model_connection_id, model_id, overlap, misfire, not_before,
        ${budgetColumns('r')} as budget, next_run_at
      from routines r
      where state = 'active' and next_run_at <= now() ${except.length === 0 ? empty : sql`and id <> all(${except})`}
      order by next_run_at
      limit ${batchSize}
      -- Not 'for update', which the foreign key of a run that is inserted meanwhile would wait for.
      for no key update skip locked
    )
    select due.id, due.project_id as "projectId", p.organization_id as "organizationId",
      ${paidPlanOf(sql`o`)} as "paidPlan", due.schedule, due.timezone, due.starts_at as "startsAt",
      due.ends_at as "endsAt", due.skip_dates as "skipDates", due.jitter_seconds as "jitterSeconds",
      due.model_provider as provider,
      ${accountOf(sql`due`)} as account, ${breakerIsOpen(accountOf(sql`due`))} as "breakerOpen", due.overlap,
      due.misfire, due.not_before as "notBefore", jsonb_build_object('routine', due.budget, 'project', ${budgetColumns('p')},
        'organization', ${budgetColumns('o')}) as budgets, due.next_run_at as "dueAt",
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
  `;
}

/** Returns the milliseconds until the next routine is due, at most zero for now; undefined for none in two seconds. */
export async function dueWithinSeconds(db: Db): Promise<number | undefined> {
  const [soon] = await db.rows<{ ms: number | null }>`
    select (extract(epoch from min(next_run_at) - now()) * 1000)::float8 as ms from routines
    where state = 'active' and next_run_at <= now() + interval '2 seconds'
  `;
  return soon?.ms ?? undefined;
}
