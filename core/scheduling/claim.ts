import {
  effectivePlan,
  takeRuns,
  type Plan,
  type PlanRule,
} from '#core/billing/index.ts';
import { overBudget, type RunReason } from '#core/runs/index.ts';
import { execute, rows, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { decide, type Decision } from './occurrence.ts';
import { parseStoredSchedule } from './schedule/index.ts';

export interface ClaimDeps {
  readonly database: Database;
  readonly planRule: PlanRule;
  /** Whether routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
}

export interface Claimed {
  /** Whether there may be more to claim at once. */
  readonly more: boolean;
  readonly runs: number;
  readonly skipped: number;
}

interface DueRoutine {
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
  readonly now: Date;
}

/**
 * Claims one batch of due routines: inserts a row for every occurrence and advances the next times, in one
 * transaction that skips what another tick holds. Overlapping ticks therefore never claim the same occurrence; the
 * unique index on (routine, instant) stands behind that.
 */
export function claimDueRoutines(deps: ClaimDeps, batchSize: number): Promise<Claimed> {
  return transaction(deps.database, async (tx) => {
    const due = await lockDueRoutines(tx, batchSize);
    if (due.length === 0) return { more: false, runs: 0, skipped: 0 };
    const decisions = decideInTime(due);
    const decided = decisions.flatMap(({ routine, decision }) =>
      decision === undefined ? [] : [{ routine, decision }],
    );
    const reasons = await reasonsToSkip(tx, deps, decided);
    const occurrences = decided.flatMap(({ routine, decision }) =>
      occurrenceRows(routine, decision, reasons.get(routine.id)),
    );
    await insertOccurrences(tx, occurrences);
    await advance(tx, decided);
    await pauseUnreadable(tx, decisions.filter((d) => d.decision === undefined).map((d) => d.routine.id));
    const runs = occurrences.filter(({ state }) => state === 'queued').length;
    return { more: due.length === batchSize || decisions.length < due.length, runs, skipped: occurrences.length - runs };
  });
}

function lockDueRoutines(tx: Db, batchSize: number): Promise<DueRoutine[]> {
  return rows<DueRoutine>(
    tx,
    sql`
      select r.id, r.project_id as "projectId", p.organization_id as "organizationId",
        o.paid_plan as "paidPlan", r.schedule, r.timezone, r.model_provider as provider, r.overlap, r.misfire,
        r.max_tokens_per_day as "maxTokensPerDay", r.max_cost_usd_per_month::text as "maxCostUsdPerMonth",
        r.next_run_at as "dueAt", now() as now
      from routines r
      join projects p on p.id = r.project_id
      join organizations o on o.id = p.organization_id
      where r.state = 'active' and r.next_run_at <= now()
      order by r.next_run_at
      limit ${batchSize}
      for update of r skip locked
    `,
  );
}

/**
 * Decides as many as fit into two seconds, at least one: after a long outage each may have thousands of missed
 * occurrences to count, and the transaction holds the rows meanwhile. The rest stay due for the next batch.
 */
function decideInTime(due: readonly DueRoutine[]) {
  const end = performance.now() + 2_000;
  const decisions: { routine: DueRoutine; decision: Decision | undefined }[] = [];
  for (const routine of due) {
    decisions.push({ routine, decision: tryDecide(routine) });
    if (performance.now() > end) break;
  }
  return decisions;
}

/** A stored schedule that this process cannot compute, after a change of time zone data, must not stop the others. */
function tryDecide(routine: DueRoutine): Decision | undefined {
  try {
    return decide({ ...routine, schedule: parseStoredSchedule(routine.schedule) });
  } catch {
    return undefined;
  }
}

type Decided = { readonly routine: DueRoutine; readonly decision: Decision };

/** Why the occurrence that would run is passed over instead, by routine. */
async function reasonsToSkip(
  tx: Db,
  deps: ClaimDeps,
  decided: readonly Decided[],
): Promise<Map<string, RunReason>> {
  const reasons = new Map<string, RunReason>();
  const candidates = decided.flatMap(({ routine, decision }) =>
    decision.run === undefined ? [] : [routine],
  );
  const passOver = (ids: Iterable<string>, reason: RunReason) => {
    for (const id of ids) if (!reasons.has(id)) reasons.set(id, reason);
  };
  passOver(
    candidates.filter(({ provider }) => !deps.providerEnabled(provider)).map(({ id }) => id),
    'provider_disabled',
  );
  passOver(await stillOpen(tx, candidates), 'overlap');
  passOver(
    await overBudget(tx, candidates.map((routine) => ({ ...routine, routineId: routine.id }))),
    'budget_exceeded',
  );
  passOver(await overAllowance(tx, deps, candidates.filter(({ id }) => !reasons.has(id))), 'allowance_exceeded');
  return reasons;
}

async function stillOpen(tx: Db, routines: readonly DueRoutine[]): Promise<string[]> {
  const ids = routines.filter(({ overlap }) => overlap === 'skip').map(({ id }) => id);
  if (ids.length === 0) return [];
  const open = await rows<{ id: string }>(
    tx,
    sql`
      select distinct routine_id as id from runs
      where routine_id = any(${ids}) and state in ('queued', 'running')
    `,
  );
  return open.map(({ id }) => id);
}

/** Takes the month's allowance organization by organization; in the order of their ids, so that ticks cannot deadlock. */
async function overAllowance(
  tx: Db,
  deps: ClaimDeps,
  routines: readonly DueRoutine[],
): Promise<string[]> {
  const byOrganization = Map.groupBy(routines, ({ organizationId }) => organizationId);
  const refused: string[] = [];
  for (const organizationId of [...byOrganization.keys()].toSorted()) {
    const wanted = byOrganization.get(organizationId) ?? [];
    const plan = effectivePlan(deps.planRule, wanted[0]?.paidPlan ?? null);
    const granted = await takeRuns(tx, { organizationId, plan, wanted: wanted.length });
    refused.push(...wanted.slice(granted).map(({ id }) => id));
  }
  return refused;
}

interface OccurrenceRow {
  readonly id: string;
  readonly routine_id: string;
  readonly state: 'queued' | 'skipped';
  readonly reason: RunReason | null;
  readonly scheduled_for: Date;
  readonly skipped_count: number | null;
  readonly skipped_until: Date | null;
}

function occurrenceRows(
  routine: DueRoutine,
  { run, missed }: Decision,
  reason: RunReason | undefined,
): OccurrenceRow[] {
  const skipped = (count: number, from: Date, until: Date, why: RunReason): OccurrenceRow => ({
    id: newId('run'),
    routine_id: routine.id,
    state: 'skipped',
    reason: why,
    scheduled_for: from,
    skipped_count: count,
    skipped_until: until,
  });
  const found: OccurrenceRow[] = [];
  if (missed !== undefined) {
    found.push(skipped(missed.count, missed.from, missed.until, 'misfire'));
  }
  if (run !== undefined && reason !== undefined) found.push(skipped(1, run, run, reason));
  if (run !== undefined && reason === undefined) {
    found.push({
      id: newId('run'),
      routine_id: routine.id,
      state: 'queued',
      reason: null,
      scheduled_for: run,
      skipped_count: null,
      skipped_until: null,
    });
  }
  return found;
}

async function insertOccurrences(tx: Db, occurrences: readonly OccurrenceRow[]): Promise<void> {
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

async function advance(tx: Db, decided: readonly Decided[]): Promise<void> {
  const next = decided.map(({ routine, decision }) => ({ id: routine.id, next: decision.next }));
  await execute(
    tx,
    sql`
      update routines r set next_run_at = n.next
      from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
      where r.id = n.id
    `,
  );
}

async function pauseUnreadable(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    tx,
    sql`
      update routines set state = 'paused', next_run_at = null, version = version + 1,
        state_reason = 'paused because its schedule has no computable next time; save the schedule again'
      where id = any(${ids})
    `,
  );
}
