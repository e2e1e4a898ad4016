import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { PLANS } from '#core/billing/index.ts';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import { sessionCookieName } from '#core/identity/index.ts';
import { authOperations } from '../auth/operations.ts';
import { notFoundOf } from '../http/path-parameters.ts';
import type { Route, RouteSpec } from '../route.ts';
import { authPaths } from './auth.ts';
import { errorHeaders } from './error-headers.ts';
import { withStorableText } from './storable-text.ts';
import { TAGS } from './tags.ts';
import { webhooks } from './webhooks.ts';

/** Builds the OpenAPI 3.1 document of the declared routes: schemas, security and every error of every operation. */
export function buildOpenApi(
  routes: readonly Route[],
  options: { publicUrl: string; productTag: string },
) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { spec } of routes) {
    const path = spec.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec) };
  }
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Routine Automation Service',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: { ...paths, ...authPaths(authOperations) },
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of one project.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(options),
          description: 'Of a sign-in at `/auth`. Mutations also need `Origin`.',
        },
        uiOrigin: {
          type: 'apiKey',
          in: 'header',
          name: 'Origin',
          description: 'Of the user interface; no account is needed.',
        },
        stripeSignature: {
          type: 'apiKey',
          in: 'header',
          name: 'Stripe-Signature',
          description: 'Of the payment processor, over the raw body.',
        },
        schedulerSecret: { type: 'apiKey', in: 'header', name: 'X-Scheduler-Secret' },
      },
    },
  });
  return withStorableText(document);
}

function operation(spec: RouteSpec): ZodOpenApiOperationObject {
  return {
    operationId: spec.id,
    tags: [spec.tag],
    summary: spec.summary,
    description: [spec.description ?? `${spec.summary}.`, scopeNote(spec)]
      .filter(Boolean)
      .join('\n\n'),
    security: securityOf(spec),
    requestParams: {
      ...(spec.params instanceof z.ZodObject ? { path: spec.params } : {}),
      ...(spec.query instanceof z.ZodObject ? { query: spec.query } : {}),
      ...headersOf(spec),
    },
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: {
            required: spec.bodyOptional !== true,
            content: { 'application/json': { schema: spec.body } },
          },
        }),
    responses: responsesOf(spec),
  };
}

function headersOf(spec: RouteSpec) {
  const shape: Record<string, z.ZodType> = {};
  if (hasProject(spec)) {
    shape['X-Project-Id'] = z
      .string()
      .optional()
      .meta({ description: 'Selects the project of a session; a key has its own.' });
  }
  if (spec.idempotent === true) {
    shape['Idempotency-Key'] = z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/)
      .optional()
      .meta({ description: 'The same key and body give the first response again, for 24 hours.' });
  }
  if (spec.success.stream === true) {
    shape['Last-Event-ID'] = z
      .string()
      .optional()
      .meta({ description: 'The `id` of the last event you have seen; the ones after it follow.' });
  }
  if (spec.conditional === true) {
    shape['If-Match'] = z.string().optional().meta({ description: 'The `ETag` you have seen.' });
  }
  return Object.keys(shape).length === 0 ? {} : { header: z.object(shape) };
}

function responsesOf(spec: RouteSpec): ZodOpenApiResponsesObject {
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
    else add('session_required');
    if (hasProject(spec)) add('project_required', 'project_not_found');
    if (spec.auth === 'key-or-session' && writes) add('plan_write_required');
    if (spec.auth === 'org-owner-session') add('owner_required');
  }
  if (writes && spec.auth !== 'stripe-signature')
    add('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (spec.idempotent === true) add('idempotency_in_progress', 'idempotency_key_reused');
  return [...codes];
}

/** Tells whether a caller selects a project. */
function hasProject({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') && auth !== 'session';
}

function securityOf(spec: RouteSpec) {
  switch (spec.auth) {
    case 'none':
      return [];
    case 'ui-origin':
      return [{ uiOrigin: [] }];
    case 'stripe-signature':
      return [{ stripeSignature: [] }];
    case 'scheduler-secret':
      return [{ schedulerSecret: [] }];
    case 'key-or-session':
      return [{ apiKey: spec.scope === undefined ? [] : [spec.scope] }, { session: [] }];
    case 'owner-session':
    case 'returning-owner':
      return [{ session: spec.scope === undefined ? [] : [spec.scope] }];
    default:
      return [{ session: [] }];
  }
}

/** Tells whether the caller is a person or a key, with a rate limit of its own. */
function isSignedIn({ auth }: RouteSpec): boolean {
  return auth.endsWith('session') || auth === 'returning-owner';
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

function scopeNote(spec: RouteSpec): string {
  if (spec.auth === 'owner-session' || spec.auth === 'returning-owner') {
    return 'Only the browser session of the account’s owner may call this; an API key cannot act as the owner.';
  }
  return spec.scope === undefined ? '' : `API keys need the scope \`${spec.scope}\`.`;
}

const writers = Object.entries(PLANS).flatMap(([name, plan]) => (plan.apiWrites ? [name] : []));

const DESCRIPTION = `Recurring work for language models: scheduled, recorded step by step, durable.

Every success is \`{data, requestId}\`, every failure \`{error: {code, message}, requestId}\`.
Lists are newest first; the next page is in the \`Link\` header. Times are RFC 3339 in UTC.
API keys read on every plan and write on: ${writers.join(', ')}.`;
