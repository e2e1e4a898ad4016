import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { AuthOperation } from '../auth/operation.ts';
import { errorResponse, failure } from './responses.ts';

/** Builds the paths below `/auth`. */
export function authPaths(operations: readonly AuthOperation[]) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations) {
    paths[`/auth${operation.path}`] = { [operation.method.toLowerCase()]: describe(operation) };
  }
  return paths;
}

function describe(operation: AuthOperation): ZodOpenApiOperationObject {
  const { query, body, summary } = operation;
  const description = operation.description ?? `${summary}.`;
  return {
    operationId: operation.id,
    tags: ['Accounts'],
    summary,
    description: operation.method === 'POST' ? `${description}\n\n${NEEDS_ORIGIN}` : description,
    security: operation.needsSession === true ? [{ session: [] }] : [],
    requestParams: { ...(query && { query }) },
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: responsesOf(operation),
  };
}

const NEEDS_ORIGIN = 'Browsers send `Origin`, which has to be that of the user interface.';

function responsesOf(operation: AuthOperation): ZodOpenApiResponsesObject {
  const { success, redirects, summary } = operation;
  const responses: ZodOpenApiResponsesObject = {};
  if (success !== undefined) {
    responses['200'] = {
      description: `${summary}: done.`,
      content: { 'application/json': { schema: success } },
    };
  }
  if (redirects === true) {
    responses['302'] = {
      description: 'A redirect.',
      headers: { Location: { description: 'Target of the redirect.', schema: { type: 'string' } } },
    };
  }
  const errors = errorsOf(operation);
  for (const status of STATUSES) {
    const codes = errors.get(status) ?? [];
    if (codes.length === 0) continue;
    responses[`${status}`] = errorResponse(['auth', status, ...codes].join('.'), status, () => ({
      description: codes.map((code) => `\`${code}\``).join(', '),
      schema: failure,
    }));
  }
  return responses;
}

const STATUSES = [400, 401, 403, 404, 408, 409, 413, 415, 429, 431, 500, 503] as const;

/** Returns the codes of an operation by status: its own codes, and the codes that follow from its declaration. */
function errorsOf({ method, needsSession, errors }: AuthOperation): Map<number, readonly string[]> {
  const writes = method === 'POST';
  const derived: Readonly<Record<(typeof STATUSES)[number], readonly string[]>> = {
    400: ['invalid_request', ...(writes ? ['invalid_json'] : [])],
    401: needsSession === true ? ['unauthorized'] : [],
    403: writes ? ['missing_or_null_origin', 'invalid_origin'] : [],
    404: [],
    408: ['request_timeout'],
    409: [],
    413: writes ? ['body_too_large'] : [],
    415: writes ? ['unsupported_media_type'] : [],
    429: ['rate_limited'],
    431: ['headers_too_large'],
    500: ['internal_error'],
    503: ['service_unavailable'],
  };
  return new Map(STATUSES.map((status) => [status, [...derived[status], ...(errors[status] ?? [])]]));
}
