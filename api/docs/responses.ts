import { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import { notFoundOf } from '../http/path-parameters.ts';
import type { RouteSpec } from '../route.ts';
import { hasProject, isSignedIn } from './callers.ts';

/** Describes the response of a success, and one for each status of an error. */
export function responsesOf(spec: RouteSpec): ZodOpenApiResponsesObject {
  const { success } = spec;
  const headers = { ...success.headers, ...commonHeaders(spec) };
  const responses: ZodOpenApiResponsesObject = {
    [`${success.status}`]: {
      description: success.description,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' as const } },
        ]),
      ),
      content:
        success.stream === true
          ? { 'text/event-stream': { schema: success.data } }
          : {
              'application/json': {
                schema: z.strictObject({ data: success.data, requestId: z.string() }),
              },
            },
    },
    ...(success.stream === true ? { '204': { description: NOTHING_MORE } } : {}),
  };
  const byStatus = Map.groupBy(errorsOf(spec), (code) => ERRORS[code][0]);
  for (const [status, codes] of [...byStatus].toSorted(([a], [b]) => a - b)) {
    responses[`${status}`] = {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
      headers: errorHeaders(status),
      content: {
        'application/json': {
          schema: failureOf(codes),
          examples: Object.fromEntries(
            codes.map((code) => [
              code,
              {
                value: {
                  error: { code, message: ERRORS[code][1] },
                  requestId: '6b2f0a3e-5d0c-4a43-9d7e-2f6f6c0a9b11',
                },
              },
            ]),
          ),
        },
      },
    };
  }
  return responses;
}

const NOTHING_MORE =
  '`Last-Event-ID` names the last event there will ever be; a browser stops reconnecting.';

function failureOf(codes: readonly ErrorCode[]) {
  return z.strictObject({
    error: z.strictObject({
      code: z.enum(codes),
      message: z.string(),
    }),
    requestId: z.string(),
  });
}

/** Returns the errors that a route declares, and those that follow from its declaration. */
export function errorsOf(spec: RouteSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(spec.errors ?? []);
  const add = (...more: ErrorCode[]) => more.forEach((code) => codes.add(code));
  add(...notFoundOf(spec.path).values());
  add('invalid_request', 'not_acceptable', 'request_timeout', 'headers_too_large');
  add('internal_error', 'service_unavailable');
  const writes = spec.method !== 'GET';
  if (isSignedIn(spec)) {
    add('authentication_required', 'rate_limited');
    if (writes) add('origin_not_allowed');
    if (spec.auth === 'key-or-session') add('invalid_api_key', 'insufficient_scope');
    else add('invalid_api_key', 'session_required');
    if (hasProject(spec)) add('project_required', 'project_not_found');
    if (hasProject(spec) || codes.has('organization_not_found') || codes.has('project_not_found')) {
      add('second_factor_required');
    }
    if (spec.fresh === true) add('reauthentication_required');
    if (spec.auth === 'key-or-session' && writes) add('plan_write_required');
    if (spec.auth === 'org-owner-session') add('owner_required');
  }
  if (writes && spec.auth !== 'stripe-signature')
    add('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (spec.idempotent === true) add('idempotency_in_progress', 'idempotency_key_reused');
  return [...codes];
}

function commonHeaders(spec: RouteSpec): Record<string, string> {
  const limited = isSignedIn(spec);
  const listed = spec.query !== undefined;
  return {
    'X-Request-Id': 'The `requestId` of the envelope.',
    ...(limited
      ? {
          'X-RateLimit-Limit': 'Requests a minute.',
          'X-RateLimit-Remaining': 'Requests left in this minute.',
        }
      : {}),
    ...(listed ? { Link: '`<…>; rel="next"` while there are more.' } : {}),
    ...(spec.idempotent === true
      ? { 'Idempotent-Replayed': '`true` when this is the first response again.' }
      : {}),
  };
}

const REQUEST_ID = {
  'X-Request-Id': { description: 'The `requestId` of the envelope.', schema: { type: 'string' } },
} as const;

const RETRY_AFTER = {
  description: 'Seconds after which the request may be repeated.',
  schema: { type: 'integer', minimum: 1 },
} as const;

/** Describes the headers of an error by its status. */
export function errorHeaders(status: number) {
  switch (status) {
    case 401:
      return {
        ...REQUEST_ID,
        'WWW-Authenticate': {
          description: 'How to authenticate (RFC 9110, section 11.6.1).',
          schema: { type: 'string' as const },
        },
      };
    case 429:
      return { ...REQUEST_ID, 'Retry-After': { ...RETRY_AFTER, required: true } };
    case 503:
      return { ...REQUEST_ID, 'Retry-After': RETRY_AFTER };
    default:
      return REQUEST_ID;
  }
}
