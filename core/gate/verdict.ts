/** Lists the reasons why a gate let a run go on, or did not. */
export const GATE_REASONS = {
  // The model is woken.
  first: 'no run of this version has acted on a value yet',
  changed: 'the value has changed since the last run that acted on it',
  not_empty: 'the value is not empty',
  manual: 'a person or a program started the run',
  quiet_too_long: 'the model was not woken for `maxQuietHours`',
  // It is not.
  unchanged: 'the value is the one that the last run acted on',
  empty: 'the value is empty',
  // It is woken because nothing is known.
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
  | 'unreachable'
  | 'status'
  | 'tool_refused'
  | 'tool_failed'
  | 'too_slow'
  | 'too_large'
  | 'not_json'
  | 'pointer_missing'
>;

/** The gate's request, as it is shown. */
export interface GateCall {
  readonly tool: { readonly policyId: string; readonly name: string | null } | null;
  /** Address without its query, which may hold secrets. */
  readonly url: string | null;
  /** HTTP status; null for a tool, and without a response. */
  readonly status: number | null;
  /** True when a request was sent. */
  readonly sent: boolean;
}

/** Value with which a later run compares, once this run has acted on it. */
export interface SeenValue {
  readonly hash: string;
  readonly isEmpty: boolean;
  readonly etag: string | null;
}

/** The value that a run's gate saw and what follows from it, stored as JSON on the run's row, so times are strings. */
export interface GateVerdict {
  readonly at: string;
  readonly call: GateCall;
  /** True when the value differs from the one that the last run acted on; null when that cannot be known. */
  readonly changed: boolean | null;
  readonly failed: boolean;
  readonly reason: GateReason;
  /** Detail beyond the reason of a failure, in the service's own words. */
  readonly error: string | null;
  /** The beginning of the value as text; null when it was not read. */
  readonly value: string | null;
  readonly valueLength: number | null;
  /** Null when nothing was seen. */
  readonly seen: SeenValue | null;
}
