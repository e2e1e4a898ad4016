import type { Gate } from '#core/authoring/definition/index.ts';

/** The value of the last run of this version that succeeded or found no change. */
export interface Baseline extends SeenValue {
  /** Occurrence at which the model was last woken. */
  readonly wokeAt: Date;
}

export interface GateQuestion {
  readonly gate: Pick<Gate, 'wakeOn' | 'maxQuietHours'>;
  /** The value to compare with; undefined before the first value of the version. */
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

/** Decides whether a run wakes its model; in doubt, the model is woken. */
export function decideGate(question: GateQuestion, seen: Seen): GateDecision {
  const { gate, baseline, isManual } = question;
  if (typeof seen === 'object' && 'failed' in seen) return { wakes: true, reason: seen.failed, changed: null };
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
 * Returns the entity tag if an unchanged value would end the run. A run that continues needs the value, and a 304 has
 * no body.
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

/** Reasons why a gate woke the model, or did not. */
export const GATE_REASONS = {
  // Reasons to wake the model.
  first: 'no run of this version has acted on a value yet',
  changed: 'the value has changed since the last run that acted on it',
  not_empty: 'the value is not empty',
  manual: 'a person or a program started the run',
  quiet_too_long: 'the model was not woken for `maxQuietHours`',
  // Reasons not to wake the model.
  unchanged: 'the value is the one that the last run acted on',
  empty: 'the value is empty',
  // Reasons to wake the model because the value is unknown.
  unreachable: 'the address could not be reached, or is not allowed',
  status: 'the address did not respond with a success',
  tool_refused: 'the call of the tool was not allowed',
  tool_failed: 'the call of the tool failed',
  too_slow: 'there was no response in time',
  too_large: 'the response was too large',
  not_json: 'there are pointers, and the response is not JSON',
  pointer_missing: 'a pointer finds nothing in the response',
} as const;
export type GateReason = keyof typeof GATE_REASONS;
export type GateFailure = Extract<
  GateReason,
  'unreachable' | 'status' | 'tool_refused' | 'tool_failed' | 'too_slow' | 'too_large' | 'not_json' | 'pointer_missing'
>;

/** The gate's request for display. */
export interface GateCall {
  readonly tool: { readonly policyId: string; readonly name: string | null } | null;
  /** Address without its query, which may contain secrets. */
  readonly url: string | null;
  /** HTTP status; null for a tool, and without a response. */
  readonly status: number | null;
  /** True when a request was sent. */
  readonly sent: boolean;
}

/** Value that a later run compares with, once this run has acted on it. */
export interface SeenValue {
  readonly hash: string;
  readonly isEmpty: boolean;
  readonly etag: string | null;
}

/** The value that a run's gate saw and its consequence, stored as JSON on the run's row, so times are strings. */
export interface GateVerdict {
  readonly at: string;
  readonly call: GateCall;
  /** True when the value differs from the value that the last run acted on; null when that is unknown. */
  readonly changed: boolean | null;
  readonly failed: boolean;
  readonly reason: GateReason;
  /** Detail beyond the reason of a failure, in the service's own words. */
  readonly error: string | null;
  /** The beginning of the value as text; null when it was not read. */
  readonly value: string | null;
  readonly valueLength: number | null;
  /** The value that was seen; null if there was none. */
  readonly seen: SeenValue | null;
}
