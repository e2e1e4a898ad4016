import type { GateCall, GateFailure } from './verdict.ts';

/** Outcome of asking a gate's source. */
export interface GateResponse {
  readonly call: GateCall;
  readonly outcome:
    | {
        readonly kind: 'body';
        readonly text: string;
        readonly etag: string | null;
      }
    /** Status 304 (RFC 9110, section 15.4.5): the value behind the entity tag is unchanged. */
    | { readonly kind: 'not_modified' }
    | GateFault;
}

export interface GateFault {
  readonly kind: 'failed';
  readonly reason: GateFailure;
  /** Error message in the service's own words. */
  readonly error: string;
}

export function gateFault(reason: GateFailure, error: string): GateFault {
  return { kind: 'failed', reason, error };
}

/** Limits what a gate reads, in bytes of a body and in characters of a tool's result. */
export const MAX_GATE_BODY = 64 * 1_024;

export const TOO_LARGE = gateFault(
  'too_large',
  `The response has more than ${MAX_GATE_BODY} bytes.`,
);

/** Limits the time that a gate takes, so that it does not use up that of the run. */
export const GATE_TIMEOUT_MS = 30_000;

export const TOO_SLOW = gateFault(
  'too_slow',
  `There was no whole response within ${GATE_TIMEOUT_MS / 1_000} seconds.`,
);
