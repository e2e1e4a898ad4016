import type { Gate } from '#core/routines/index.ts';
import { transaction, type Database } from '#lib/database/index.ts';
import { afterEnd, type AfterEndDeps, type Trigger } from '#core/runs/index.ts';
import { readOutcome, type StepOutcome } from './step-outcome.ts';
import {
  askGate,
  type AskDeps,
  type AskingRun,
  readBaseline,
  type GateVerdict,
} from '#core/gate/index.ts';
import { recordQuiet, recordVerdict } from './record-gate.ts';

export interface GateDeps extends AskDeps, AfterEndDeps {
  readonly database: Database;
}

/** A run before its first model call. */
export interface GatedRun extends AskingRun {
  readonly revision: number;
  readonly trigger: Trigger;
  readonly scheduledFor: Date | null;
  readonly gate: Gate | null;
  /** Verdict that an earlier attempt has recorded. */
  readonly gateVerdict: GateVerdict | null;
}

export type Passage =
  /** The run goes on; null where it has no gate. */
  | { readonly verdict: GateVerdict | null }
  /** The run ends here. */
  | { readonly outcome: StepOutcome };

/**
 * Asks the gate of a run, once, and skips the run when there is no reason to wake the model. The gate of a manual run
 * is asked for the value only, and the run goes on in any case: its starter wants it to run.
 */
export async function passGate(
  deps: GateDeps,
  run: GatedRun,
  signal: AbortSignal,
): Promise<Passage> {
  const { gate, gateVerdict } = run;
  if (gate === null || gateVerdict !== null) return { verdict: gateVerdict };
  const baseline = await readBaseline(deps.database, run);
  const { wakes, verdict } = await askGate(
    deps,
    run,
    gate,
    { baseline, dueAt: run.scheduledFor ?? run.startedAt, isManual: run.trigger !== 'schedule' },
    signal,
  );
  if (wakes) {
    const recorded = await recordVerdict(deps.database, run.id, verdict);
    return recorded === undefined ? ended(deps, run) : { verdict: recorded };
  }
  const skipped = await transaction(deps.database, (tx) => recordQuiet(tx, run.id, verdict));
  if (skipped.kind === 'woken') return { verdict: skipped.verdict };
  if (skipped.kind === 'skipped') await afterEnd(deps, skipped.end);
  return ended(deps, run);
}

async function ended({ database }: GateDeps, { id }: GatedRun): Promise<Passage> {
  return { outcome: await readOutcome(database, id, 0) };
}
