import type { ErrorCode } from './generated/operations.ts';

/** The base of all errors of this package. */
export class RasError extends Error {
  override readonly name: string = 'RasError';
}

/** No response arrived, or one that is none of the service; what was asked may have been done all the same. */
export class ConnectionError extends RasError {
  override readonly name: string = 'ConnectionError';
}

/** The time of a call, or of a wait, ran out. */
export class TimeoutError extends RasError {
  override readonly name: string = 'TimeoutError';
}

/** A webhook that was not signed with the secret, or more than five minutes ago. */
export class WebhookVerificationError extends RasError {
  override readonly name: string = 'WebhookVerificationError';
}

/** One fault of a request. */
export interface ErrorDetail {
  /** Path of the field: `budget.maxTokensPerDay`. */
  readonly param: string;
  readonly message: string;
}

export interface ErrorResponse {
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** An error that the service responded with. */
export class ApiError extends RasError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  /** Names the error for code; the list may grow. */
  readonly code: ErrorCode | (string & {});
  /** Every fault of a request that is not valid. */
  readonly details: readonly ErrorDetail[];
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, code, message, details, requestId, retryAfterMs }: ErrorResponse) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** The first field that is wrong. */
  get param(): string | undefined {
    return this.details[0]?.param;
  }
}

/** 400: the request is not valid; `details` says where. */
export class BadRequestError extends ApiError {
  override readonly name: string = 'BadRequestError';
}
/** 401: there is no such API key. */
export class AuthenticationError extends ApiError {
  override readonly name: string = 'AuthenticationError';
}
/** 402: the plan does not cover it. */
export class PlanError extends ApiError {
  override readonly name: string = 'PlanError';
}
/** 403: the API key lacks the scope, or the operation wants a person. */
export class PermissionError extends ApiError {
  override readonly name: string = 'PermissionError';
}
/** 404: there is no such thing in the project of the API key. */
export class NotFoundError extends ApiError {
  override readonly name: string = 'NotFoundError';
}
/** 409: the state of the thing does not permit it. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError';
}
/** 412: it has changed since the version in `ifMatch`. */
export class PreconditionFailedError extends ApiError {
  override readonly name: string = 'PreconditionFailedError';
}
/** 422: the idempotency key was used for another request. */
export class KeyReusedError extends ApiError {
  override readonly name: string = 'KeyReusedError';
}
/** 429: too many requests; `retryAfterMs` says when there is room. */
export class RateLimitError extends ApiError {
  override readonly name: string = 'RateLimitError';
}
/** 500 and above: the fault is not the caller's. */
export class ServerError extends ApiError {
  override readonly name: string = 'ServerError';
}

const KINDS: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: PlanError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: KeyReusedError,
  429: RateLimitError,
};

/** Makes the error of a response that is no success; a proxy's, too, whose body says nothing. */
export function apiError({ status, headers }: Response, body: unknown): ApiError {
  const { error, requestId } = fieldsOf(body);
  const { code, message, details } = fieldsOf(error);
  const Kind = KINDS[status] ?? (status >= 500 ? ServerError : ApiError);
  return new Kind({
    status,
    code: typeof code === 'string' ? code : 'unknown',
    message: typeof message === 'string' ? message : `The service responded with ${status}.`,
    details: Array.isArray(details) ? details.map(detailOf) : [],
    requestId: typeof requestId === 'string' ? requestId : (headers.get('x-request-id') ?? undefined),
    retryAfterMs: retryAfterMs(headers.get('retry-after')),
  });
}

function detailOf(given: unknown): ErrorDetail {
  const { param, message } = fieldsOf(given);
  return { param: String(param), message: String(message) };
}

/** Reads a number of seconds or an HTTP date (RFC 9110, section 10.2.3). */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null || header === '') return undefined;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(waitMs) ? undefined : Math.max(waitMs, 0);
}

/** Returns the fields of an object, and none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
