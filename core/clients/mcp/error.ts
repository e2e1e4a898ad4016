import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { AppError } from '#lib/errors.ts';
import { outboundErrorIn, type OutboundErrorCode } from '#lib/outbound/index.ts';
import { statedError, wordsOf } from './messages.ts';

/** Lists the errors of tool servers in the service's own words, which repeat nothing that a server sent. */
export const TOOL_SERVER_ERRORS = {
  blocked: 'the address is not allowed: only https to public addresses',
  unreachable: 'the server could not be reached',
  certificate: 'the server has no certificate that can be trusted',
  redirect: 'the server redirects to another address; use that address',
  too_slow: 'the server did not answer in time',
  too_large: 'the answer of the server is too large',
  sign_in: 'the server requires a sign-in, or does not accept the present one',
  forbidden: 'the server denies access (403): it does not accept this sign-in, or answers only under another host name',
  server_error: 'the server answered with an error of its own',
  not_mcp: 'the server does not speak MCP over Streamable HTTP at this address',
  broken: 'the server broke off before it answered',
  malformed: 'the answer of the server does not follow MCP',
  protocol: 'the server refused the request',
  session_lost: 'the server no longer knows the session',
  input_required: 'the tool wants to ask a person, but no person takes part in a run',
  cancelled: 'the call was cancelled',
} as const;
export type ToolServerErrorKind = keyof typeof TOOL_SERVER_ERRORS;

export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly kind: ToolServerErrorKind;
  /** True unless it is certain that the server has not acted on the request. */
  readonly mayHaveArrived: boolean;
  /** True when the server answered this request with an error, and so knows the outcome. */
  readonly isAnswer: boolean;
  /** The server's own words, if any: untrusted, for the model and the run's detail only. */
  readonly serverMessage: string | undefined;
  /** The `WWW-Authenticate` header of a `sign_in` error (RFC 9728, section 5.1). */
  readonly challenge: string | undefined;

  constructor(
    kind: ToolServerErrorKind,
    options: {
      mayHaveArrived?: boolean;
      isAnswer?: boolean;
      serverMessage?: string | undefined;
      challenge?: string | undefined;
      /** The exact fault of a `malformed` response, in the service's words. */
      place?: string | undefined;
    } = {},
  ) {
    super(options.place === undefined ? TOOL_SERVER_ERRORS[kind] : `${TOOL_SERVER_ERRORS[kind]} (${options.place})`);
    this.kind = kind;
    this.mayHaveArrived = options.mayHaveArrived ?? !NEVER_ARRIVED.has(kind);
    this.isAnswer = options.isAnswer ?? false;
    this.serverMessage = options.serverMessage;
    this.challenge = options.challenge;
  }

  /** True when other credentials may help. */
  get isDenial(): boolean {
    return this.kind === 'sign_in' || this.kind === 'forbidden';
  }
}

/** Errors after which the server has not acted on the request, such as a refusal that asks for a sign-in. */
const NEVER_ARRIVED: ReadonlySet<ToolServerErrorKind> = new Set([
  'blocked',
  'unreachable',
  'certificate',
  'sign_in',
  'forbidden',
]);

/**
 * Turns an error of the MCP client or the guarded fetch into a `ToolServerError`; errors of this service pass through.
 */
export function toToolServerError(error: unknown): ToolServerError | AppError {
  if (error instanceof ToolServerError || error instanceof AppError) return error;
  const outbound = outboundErrorIn(error);
  if (outbound !== undefined) {
    const { mayHaveArrived } = outbound;
    return new ToolServerError(OUTBOUND_KINDS[outbound.code], { mayHaveArrived });
  }
  const nested = causeOf(error);
  if (nested !== undefined) return nested;
  if (InsufficientScopeError.isInstance(error)) return new ToolServerError('sign_in');
  if (SdkHttpError.isInstance(error)) {
    return new ToolServerError(kindOfStatus(error.status), { serverMessage: wordsInBody(error) });
  }
  if (ProtocolError.isInstance(error)) {
    return new ToolServerError('protocol', { isAnswer: true, serverMessage: wordsOf(error) });
  }
  if (SdkError.isInstance(error)) return new ToolServerError(SDK_KINDS[error.code] ?? 'not_mcp');
  // Only errors of parsing a response remain.
  return new ToolServerError('malformed');
}

/** Returns the words of an error in the body of a refusal, in the form of JSON-RPC and of many gateways. */
export function wordsInBody({ data: { text } }: SdkHttpError): string | undefined {
  return typeof text === 'string' ? statedError(text)?.words : undefined;
}

/** Finds this service's error among the causes, because version negotiation wraps the error of the transport. */
function causeOf(error: unknown): ToolServerError | AppError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ToolServerError || each instanceof AppError) return each;
  }
  return undefined;
}

const OUTBOUND_KINDS: Record<OutboundErrorCode, ToolServerErrorKind> = {
  blocked_url: 'blocked',
  blocked_address: 'blocked',
  dns_failure: 'unreachable',
  connect_failed: 'unreachable',
  tls_error: 'certificate',
  redirect_refused: 'redirect',
  timeout: 'too_slow',
  response_too_large: 'too_large',
  aborted: 'cancelled',
  protocol_error: 'broken',
};

const SDK_KINDS: Partial<Record<string, ToolServerErrorKind>> = {
  [SdkErrorCode.RequestTimeout]: 'too_slow',
  [SdkErrorCode.ConnectionClosed]: 'broken',
  [SdkErrorCode.NotConnected]: 'broken',
  [SdkErrorCode.SendFailed]: 'broken',
  [SdkErrorCode.InvalidResult]: 'malformed',
  [SdkErrorCode.UnsupportedResultType]: 'input_required',
  [SdkErrorCode.ClientHttpAuthentication]: 'sign_in',
  [SdkErrorCode.ClientHttpForbidden]: 'forbidden',
};

function kindOfStatus(status: number | undefined): ToolServerErrorKind {
  if (status === 401) return 'sign_in';
  if (status === 403) return 'forbidden';
  if (status !== undefined && status >= 300 && status < 400) return 'redirect';
  if (status !== undefined && status >= 500) return 'server_error';
  return 'not_mcp';
}
