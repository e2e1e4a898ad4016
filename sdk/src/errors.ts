import type { ErrorCode } from './generated/operations.ts';

/** The base of all errors of this package. */
export class RasError extends Error {
  override readonly name: string = 'RasError';
}

/** No response of the service arrived. The request may still have been carried out. */
export class ConnectionError extends RasError {
  override readonly name: string = 'ConnectionError';
}

/** The time limit of a call or of a wait has passed. */
export class TimeoutError extends RasError {
  override readonly name: string = 'TimeoutError';
}

/** The webhook was not signed with the secret, or was signed more than five minutes ago. */
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

/** An error response of the service. */
export class ApiError extends RasError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  /** Code of the error. The list may grow. */
  readonly code: ErrorCode | (string & {});
  /** Every fault of an invalid request. */
  readonly details: readonly ErrorDetail[];
  /** Id of the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** The wait that the `Retry-After` header requests. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, code, message, details, requestId, retryAfterMs }: ErrorResponse) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** The first faulty field. */
  get param(): string | undefined {
    return this.details[0]?.param;
  }
}

/** 400: the request is not valid; see `details`. */
export class BadRequestError extends ApiError {
  override readonly name: string = 'BadRequestError';
}
/** 401: the API key is unknown. */
export class AuthenticationError extends ApiError {
  override readonly name: string = 'AuthenticationError';
}
/** 402: the plan does not allow the operation. */
export class PlanError extends ApiError {
  override readonly name: string = 'PlanError';
}
/** 403: the API key lacks the scope, or the operation needs a person. */
export class PermissionError extends ApiError {
  override readonly name: string = 'PermissionError';
}
/** 404: the project of the API key has no such resource. */
export class NotFoundError extends ApiError {
  override readonly name: string = 'NotFoundError';
}
/** 409: the state of the resource does not permit the operation. */
export class ConflictError extends ApiError {
  override readonly name: string = 'ConflictError';
}
/** 412: the resource has changed since the version in `ifMatch`. */
export class PreconditionFailedError extends ApiError {
  override readonly name: string = 'PreconditionFailedError';
}
/** 422: the idempotency key was used for another request. */
export class KeyReusedError extends ApiError {
  override readonly name: string = 'KeyReusedError';
}
/** 429: too many requests; try again after `retryAfterMs`. */
export class RateLimitError extends ApiError {
  override readonly name: string = 'RateLimitError';
}
/** 500 and above: a fault of the service. */
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

/** Makes the error of an unsuccessful response, also of a proxy's response without a usable body. */
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

/** Returns the fields of an object; any other value has none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
