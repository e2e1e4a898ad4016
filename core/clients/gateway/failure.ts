import type { StatedTokens } from './tokens.ts';

/**
 * The kinds of failed calls. `key_refused` means that the server refuses the operator's key; the request is not at
 * fault.
 */
export type GatewayFailureKind =
  | 'unreachable'
  | 'rate_limited'
  | 'refused'
  | 'key_refused'
  | 'account_empty'
  | 'context_exceeded'
  | 'error'
  | 'malformed';

interface Details {
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** True when the call was under way and may be billed. */
  readonly cutOff?: boolean;
  /** True when the server does not accept work yet, so that waiting for minutes may help. */
  readonly isStarting?: boolean;
  /** The server's own words, cleaned. */
  readonly words?: string;
  /** Usage that the server stated for a call that broke off. */
  readonly stated?: StatedTokens | undefined;
  /** The finish reason of a response that cannot be used; undefined if it had none. */
  readonly finishWord?: string | undefined;
  /** Delay that the server asked for in `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
}

/** A call without a usable response. The message quotes neither the request nor the response. */
export class GatewayFailure extends Error {
  override readonly name = 'GatewayFailure';
  readonly kind: GatewayFailureKind;
  readonly details: Details;

  constructor(kind: GatewayFailureKind, message: string, details: Details) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
}

/**
 * Makes the failure of a call whose connection broke.
 * @param cutOff true if a part of the response had arrived, which may be billed
 */
export function brokenOff(cutOff: boolean): GatewayFailure {
  return new GatewayFailure('unreachable', 'The model provider broke off the call.', { retryable: true, cutOff });
}
