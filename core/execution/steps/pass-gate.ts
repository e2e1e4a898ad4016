import { askGate, keepSeen, readBaseline, type GateVerdict } from '#core/execution/gate/index.ts';
import { recordEnd } from '#core/execution/runs/index.ts';
import { skip, type RunState } from '#core/execution/run-states/index.ts';
import { ownedBy, sql, storableJson, transaction, type Db } from '#lib/database/index.ts';
import type { StepRun } from './begin-step.ts';
import type { StepsCore } from './model-call.ts';
import { Stop } from './stop.ts';

/**
 * Asks the gate of a run, once, and skips the run when there is no reason to wake the model. In a manual run the gate
 * only provides its value, and the run continues in any case.
 * @returns the verdict; null without a gate
 * @throws {Stop} when the run has ended, also because the gate skipped it
 */
export async function passGate(deps: StepsCore, run: StepRun, signal: AbortSignal): Promise<GateVerdict | null> {
  const { gate, gateVerdict } = run;
  if (gate === null || gateVerdict !== null) return gateVerdict;
  const baseline = await readBaseline(deps.database, run);
  const { wakes, verdict } = await askGate(
    deps,
    run,
    gate,
    { baseline, dueAt: run.scheduledFor ?? run.startedAt, isManual: run.trigger !== 'schedule' },
    signal,
  );
  if (wakes) {
    const recorded = await recordVerdict(deps.database, run.runId, verdict);
    if (recorded === undefined) throw Stop.overtaken();
    return recorded;
  }
  const woken = await transaction(deps.database, (tx) => recordQuiet(deps, tx, run.runId, verdict));
  if (woken !== undefined) return woken;
  throw Stop.overtaken();
}

/** Records the verdict of the gate, once: a later attempt gets the verdict of the earlier attempt. */
async function recordVerdict(db: Db, runId: string, verdict: GateVerdict): Promise<GateVerdict | undefined> {
  const recorded = await db.row<{ gate: GateVerdict }>`
    update runs set gate = coalesce(gate, ${storableJson(verdict)}::jsonb)
    where id = ${runId} and state = 'running' returning gate
  `;
  return recorded?.gate;
}

/**
 * Skips a run whose gate saw no reason to wake the model. If the previous run was skipped for the same reason, this run
 * takes over its occurrences, and the older row is deleted.
 * @returns the verdict with which another attempt has woken the model; undefined when the run has ended, now or before
 */
async function recordQuiet(
  deps: StepsCore,
  tx: Db,
  runId: string,
  verdict: GateVerdict,
): Promise<GateVerdict | undefined> {
  // Lock in a separate statement, so that the next statements see the writes of the run's last lock holder.
  const run = await tx.row<{ state: RunState; gate: GateVerdict | null }>`
    select state, gate from runs where id = ${runId} for no key update
  `;
  if (run?.state !== 'running') return undefined;
  if (run.gate !== null) return run.gate;
  const streak = await takeStreak(tx, runId);
  await tx.run`delete from steps where run_id = ${runId}`;
  await tx.run`
    update runs set gate = ${storableJson(verdict)}::jsonb, skipped_until = scheduled_for,
      scheduled_for = coalesce(${streak?.from ?? null}::timestamptz, scheduled_for),
      skipped_count = ${streak?.count ?? 0}::integer + 1
    where id = ${runId}
  `;
  await recordEnd(deps, tx, runId, skip('no_change'));
  await keepSeen(tx, runId);
  return undefined;
}

function takeStreak(tx: Db, runId: string): Promise<{ from: Date; count: number } | undefined> {
  return tx.row`
    delete from runs streak using runs run
    where run.id = ${runId} and streak.id = (
        select id from runs before
        where ${ownedBy(sql`before.routine_id`, sql`run.routine_id`)} and before.id < run.id
        order by before.routine_id, before.id desc limit 1)
      and streak.state = 'skipped' and streak.reason = 'no_change' and not streak.pinned
      and streak.routine_revision = run.routine_revision and streak.skipped_until < run.scheduled_for
    returning streak.scheduled_for as "from", streak.skipped_count as count
  `;
}
