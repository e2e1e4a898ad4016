/**
 * Thrown when an outbound exchange fails. The message names the problem and the host and is safe
 * to show, store and log; there is no `cause`, because the errors of sockets and parsers carry
 * resolved addresses and received bytes.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** Host as in the URL, mostly with its port; absent when the URL could not be parsed. */
  readonly host: string | undefined;
  /**
   * False only when it is certain that no byte of the request was sent: then even a request that is
   * not idempotent may be repeated.
   */
  readonly mayHaveArrived: boolean;

  constructor(code: OutboundErrorCode, fault: string, options: OutboundErrorOptions = {}) {
    super(options.host === undefined ? fault : `${options.host}: ${fault}`);
    this.code = code;
    this.host = options.host;
    this.mayHaveArrived = options.mayHaveArrived ?? !NEVER_SENT.has(code);
  }
}

export type OutboundErrorCode =
  | 'blocked_url'
  | 'blocked_address'
  | 'dns_failure'
  | 'connect_failed'
  | 'tls_error'
  | 'redirect_refused'
  | 'timeout'
  | 'response_too_large'
  | 'aborted'
  | 'protocol_error';

interface OutboundErrorOptions {
  host?: string;
  mayHaveArrived?: boolean;
}

/** Errors that end an exchange before the request is written to a connection. */
const NEVER_SENT: ReadonlySet<OutboundErrorCode> = new Set([
  'blocked_url',
  'blocked_address',
  'dns_failure',
  'connect_failed',
  'tls_error',
]);
