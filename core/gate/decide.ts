import type { Gate } from '#core/routines/index.ts';
import type { GateFailure, GateReason, SeenValue } from './verdict.ts';

/** The value that the last run of the version acted on. */
export interface Baseline extends SeenValue {
  /** Occurrence at which the model was last woken. */
  readonly wokeAt: Date;
}

export interface GateQuestion {
  readonly gate: Pick<Gate, 'wakeOn' | 'maxQuietHours'>;
  /** Undefined before the first value of the version. */
  readonly baseline: Baseline | undefined;
  /** Instant of the schedule; for a manual run, the time of its beginning. */
  readonly dueAt: Date;
  readonly isManual: boolean;
}

export type Seen =
  | Pick<SeenValue, 'hash' | 'isEmpty'>
  | { readonly failed: GateFailure }
  /** The server said that the value behind its entity tag has not changed. */
  | 'not_modified';

export interface GateDecision {
  readonly wakes: boolean;
  readonly reason: GateReason;
  readonly changed: boolean | null;
}

/** Decides whether a run wakes its model, which it does in case of doubt. */
export function decideGate(question: GateQuestion, seen: Seen): GateDecision {
  const { gate, baseline, isManual } = question;
  if (typeof seen === 'object' && 'failed' in seen) {
    return { wakes: true, reason: seen.failed, changed: null };
  }
  const now = seen === 'not_modified' ? baseline : seen;
  const changed = baseline === undefined ? null : now?.hash !== baseline.hash;
  const wakes = (reason: GateReason) => ({ wakes: true, reason, changed });
  if (isManual) return wakes('manual');
  if (gate.wakeOn === 'not_empty') {
    if (now?.isEmpty !== true) return wakes('not_empty');
  } else {
    if (changed === null) return wakes('first');
    if (changed) return wakes('changed');
  }
  if (isQuietTooLong(question)) return wakes('quiet_too_long');
  return { wakes: false, reason: gate.wakeOn === 'changed' ? 'unchanged' : 'empty', changed };
}

/**
 * Returns the entity tag for the request; only where a response of 304 would end the run, as it has no body and a run
 * that goes on is told the value.
 */
export function conditionalTag(question: GateQuestion): string | null {
  const { baseline } = question;
  if (baseline === undefined) return null;
  return decideGate(question, 'not_modified').wakes ? null : baseline.etag;
}

function isQuietTooLong({ gate: { maxQuietHours }, baseline, dueAt }: GateQuestion): boolean {
  if (maxQuietHours === null || baseline === undefined) return false;
  return dueAt.getTime() - baseline.wokeAt.getTime() >= maxQuietHours * 3_600_000;
}
