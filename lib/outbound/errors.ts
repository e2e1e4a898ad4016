/**
 * Thrown when an outbound exchange fails. The message names the problem and the host and is safe to show, store and
 * log. It has no `cause`, because errors of sockets and parsers contain resolved addresses and received bytes.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** Host as in the URL, mostly with its port; absent when the URL could not be parsed. */
  readonly host: string | undefined;
  /**
   * True unless it is certain that no byte of the request was sent. Even a request that is not idempotent may be
   * repeated if none was sent.
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

/** Turns an error of the TCP or TLS handshake into an `OutboundError`. Nothing of the request was sent yet. */
export function connectFault(error: unknown, host: string, isTls: boolean): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (code !== undefined && TIMEOUT_CODES.has(code)) {
    return new OutboundError('timeout', 'no connection in time', { host, mayHaveArrived: false });
  }
  if (isTls && !isSocketFault(error)) {
    return new OutboundError('tls_error', `no trusted TLS connection${inBrackets(code)}`, { host });
  }
  return new OutboundError('connect_failed', `no connection${inBrackets(code)}`, { host });
}

/** Turns any error of an exchange over an established connection into an `OutboundError`. */
export function exchangeFault(error: unknown, host: string): OutboundError {
  const own = outboundErrorIn(error);
  if (own !== undefined) return own;
  const code = causes(error)
    .map(codeOf)
    .find((each) => each !== undefined);
  if (code !== undefined && TIMEOUT_CODES.has(code)) {
    return new OutboundError('timeout', 'no answer in time', { host });
  }
  if (code !== undefined && CLOSED_CODES.has(code)) {
    return new OutboundError('aborted', 'the client was closed', { host });
  }
  return new OutboundError('protocol_error', `no complete HTTP answer${inBrackets(code)}`, { host });
}

/** Finds the outbound error behind another library's error: the MCP client wraps errors of `fetch`. */
export function outboundErrorIn(error: unknown): OutboundError | undefined {
  return causes(error).find((each) => each instanceof OutboundError);
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

const CLOSED_CODES: ReadonlySet<string> = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** Tells whether `connect` has failed, for one address or for each of several. A failed handshake is another fault. */
function isSocketFault(error: unknown): boolean {
  if (error instanceof AggregateError) return true;
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

/** Lists an error and its causes: `fetch` hides the reason two levels down. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; each instanceof Error && found.length < 5; each = each.cause) {
    found.push(each);
  }
  return found;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`;
}
