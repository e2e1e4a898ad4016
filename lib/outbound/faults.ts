import { OutboundError } from './errors.ts';

/**
 * Turns an error of the connection phase (TCP or TLS handshake) into ours. Nothing of the request
 * was sent yet.
 */
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

/** Turns any error of an exchange over an established connection into ours. */
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
  return new OutboundError('protocol_error', `no complete HTTP answer${inBrackets(code)}`, {
    host,
  });
}

/**
 * Finds the outbound error behind another library's: the MCP client, for one, wraps what `fetch`
 * rejects with.
 */
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

/**
 * Tells a failed `connect` call, or several of them when a host has several addresses, from a failed
 * handshake.
 */
function isSocketFault(error: unknown): boolean {
  if (error instanceof AggregateError) return true;
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

/**
 * Lists the error and its causes, outermost first; `fetch` hides the reason two levels down.
 */
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
