import { z } from 'zod';
import { component } from '../http/schemas.ts';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import { isPaged } from '../http/links.ts';
import { notFoundOf } from '../http/validate.ts';
import type { RouteSpec } from '../route.ts';

/** The readers of a document: everyone, or the holders of API keys. */
export type Audience = 'all' | 'keys';

/** Describes the response of a success and one response per error status; for holders of keys, one for all errors. */
export function responsesOf(spec: RouteSpec, audience: Audience): ZodOpenApiResponsesObject {
  const { success } = spec;
  const own = Object.entries(success.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ]);
  const responses: ZodOpenApiResponsesObject = {
    [`${success.status}`]: {
      description: success.description,
      ...(audience === 'all' && { headers: { ...Object.fromEntries(own), ...refs(headersOf(spec)) } }),
      content:
        success.stream === true
          ? { 'text/event-stream': { schema: success.data } }
          : {
              'application/json': {
                schema: z.strictObject({
                  data: success.data,
                  ...(isPaged(spec) && { page: nextPage }),
                  requestId: z.string(),
                }),
              },
            },
    },
    ...(success.stream === true ? { '204': { description: NOTHING_MORE } } : {}),
    ...(audience === 'all' && isTagged(spec) && { '304': UNCHANGED }),
  };
  if (audience === 'keys') return { ...responses, default: ANY_FAILURE };
  const byStatus = Map.groupBy(errorsOf(spec), (code) => ERRORS[code][0]);
  for (const [status, codes] of [...byStatus].toSorted(([a], [b]) => a - b)) {
    responses[`${status}`] = errorResponse([status, ...codes].join('.'), status, () => ({
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
      schema: failure,
      examples: Object.fromEntries(codes.map((code) => [code, EXAMPLES.get(code) ?? {}])),
    }));
  }
  return responses;
}

const nextPage = z
  .strictObject({ nextCursor: z.string().nullable().describe('The `cursor` of the next page.') })
  .optional()
  .meta({
    id: 'NextPage',
    description: 'The cursor of the next page, for requests with `page=body`; null on the last page.',
  });

const UNCHANGED: ZodOpenApiResponseObject = {
  id: 'Unchanged',
  description: 'The content still has the `ETag` in `If-None-Match`.',
};

/**
 * Tells whether the responses to a read get an `ETag` made from their content. For a resource with versions, the `ETag`
 * is the version.
 */
export function isTagged({ method, success }: RouteSpec): boolean {
  return method === 'GET' && success.stream !== true && success.headers?.['ETag'] === undefined;
}

const NOTHING_MORE = '`Last-Event-ID` names the last event there will ever be; a browser stops reconnecting.';

function refs(headers: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}

const errorResponses = new Map<string, ZodOpenApiResponseObject>();

/** Describes an error response: one component of the document for all operations that have it. */
export function errorResponse(
  id: string,
  status: number,
  describe: () => { description: string } & ZodOpenApiMediaTypeObject,
): ZodOpenApiResponseObject {
  const known = errorResponses.get(id);
  if (known !== undefined) return known;
  const { description, ...content } = describe();
  const headers = { ...refs(['X-Request-Id']), ...ERROR_HEADERS[status] };
  const response = { id, description, headers, content: { 'application/json': content } };
  errorResponses.set(id, response);
  return response;
}

/** The body of every failure. The document has no closed list of codes, because new codes may be added. */
export const failure = component('Failure', {
  error: component('Error', {
    code: z.string().describe('Names the error for programs. The list may grow.'),
    message: z.string().describe('Says what is wrong, and lists the faults of the request.'),
    details: z
      .array(
        component('ErrorDetail', {
          param: z.string().meta({ description: 'Path of the field.', example: 'budget.maxTokensPerDay' }),
          message: z.string().describe('The fault.'),
        }),
      )
      .optional()
      .describe('All faults of the request, up to 100, for requests with `Prefer: error-details`.'),
  }),
  requestId: z.string().describe('Names the request in the logs of the service.'),
});

/** One response for all errors, so that a generated client has one type for them. */
const ANY_FAILURE: ZodOpenApiResponseObject = {
  id: 'Failure',
  description:
    'An error. Each operation lists its own codes. An id in the path that names nothing gets the code of its kind, such as `run_not_found` (404). Any operation may have `invalid_request` (400), `invalid_api_key` (401), `plan_write_required` (402), `insufficient_scope` (403), `rate_limited` (429, with `Retry-After`), `internal_error` (500) and `service_unavailable` (503).',
  headers: refs(['X-Request-Id', 'Retry-After']),
  content: { 'application/json': { schema: failure } },
};

/** Returns the errors that a route declares, and the errors that follow from the declaration. */
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
  if (writes && spec.auth !== 'stripe-signature') add('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (spec.idempotent === true) add('idempotency_in_progress', 'idempotency_key_reused');
  return [...codes];
}

/** Returns the errors that an operation declares itself, and the not-found errors of its path. */
export function ownErrorsOf({ path, errors = [] }: RouteSpec): readonly ErrorCode[] {
  return [...new Set([...notFoundOf(path).values(), ...errors])];
}

function headersOf(spec: RouteSpec): (keyof typeof HEADERS)[] {
  return [
    'X-Request-Id',
    ...(isSignedIn(spec) ? RATE_LIMIT : []),
    ...(isTagged(spec) ? (['ETag'] as const) : []),
    ...(isPaged(spec) ? (['Link'] as const) : []),
    ...(spec.success.location === undefined ? [] : (['Location'] as const)),
    ...(spec.idempotent === true ? (['Idempotent-Replayed'] as const) : []),
    ...(spec.waits === true ? (['Preference-Applied'] as const) : []),
  ];
}

const RATE_LIMIT = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;
const text = { type: 'string' } as const;
const seconds = { type: 'integer', minimum: 1 } as const;
const RETRY_AFTER = 'Seconds after which the request may be repeated.';

/** The headers that responses share. */
export const HEADERS = {
  'X-Request-Id': { description: 'The `requestId` of the envelope.', schema: text },
  'X-RateLimit-Limit': { description: 'Requests a minute.', schema: text },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute.', schema: text },
  'X-RateLimit-Reset': { description: 'Seconds until this minute is over.', schema: text },
  ETag: { description: 'Names the content, for `If-None-Match`.', schema: text },
  Location: { description: 'Address of the created resource.', schema: text },
  Link: { description: '`<…>; rel="next"` while there are more items.', schema: text },
  'Preference-Applied': {
    description: 'The honoured preference.',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: '`true` when the service repeats its first response.',
    schema: text,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110, section 11.6.1).',
    schema: text,
  },
  'Retry-After': { description: RETRY_AFTER, schema: seconds },
  'Retry-After-Always': { description: RETRY_AFTER, schema: seconds, required: true },
} as const;

/** The headers of error responses by status, in addition to the request id. */
const ERROR_HEADERS: Readonly<Record<number, ReturnType<typeof refs>>> = {
  401: refs(['WWW-Authenticate']),
  429: { 'Retry-After': { $ref: '#/components/headers/Retry-After-Always' } },
  503: refs(['Retry-After']),
};

/** An example of each error; `id` makes it a component of the document. */
const EXAMPLES = new Map(
  Object.entries(ERRORS).map(([code, [, message]]) => [
    code,
    {
      id: code,
      value: { error: { code, message }, requestId: '6b2f0a3e-5d0c-4a43-9d7e-2f6f6c0a9b11' },
    },
  ]),
);

/** Tells whether an operation works in a project that a signed-in caller selects. */
export function hasProject({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') && auth !== 'session';
}

function isSignedIn({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') || auth === 'returning-owner';
}
