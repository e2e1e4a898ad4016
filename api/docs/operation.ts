import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { isPaged } from '../http/links.ts';
import { LONGEST_WAIT_SECONDS } from '../http/prefer.ts';
import { notFoundOf } from '../http/validate.ts';
import type { RouteSpec } from '../route.ts';
import { type Audience, hasProject, isTagged, ownErrorsOf, responsesOf } from './responses.ts';

/** Describes one route: its callers, its parameters and its responses. */
export function operation(spec: RouteSpec, audience: Audience): ZodOpenApiOperationObject {
  const sentence = `${spec.summary}.`;
  const { description = audience === 'all' ? sentence : '' } = spec;
  const note = audience === 'all' ? scopeNote(spec) : errorNote(spec);
  return {
    operationId: spec.id,
    tags: [spec.tag],
    summary: spec.summary,
    description: [description, note].filter(Boolean).join('\n\n') || sentence,
    ...(spec.deprecated !== undefined && { deprecated: true }),
    security: audience === 'keys' ? securityOf(spec).slice(0, 1) : securityOf(spec),
    requestParams: {
      ...(spec.params instanceof z.ZodObject ? { path: spec.params } : {}),
      ...(spec.query instanceof z.ZodObject
        ? { query: isPaged(spec) ? spec.query.extend(PAGE_FORM) : spec.query }
        : {}),
      ...headersOf(spec, audience),
    },
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: {
            required: spec.bodyOptional !== true,
            content: { 'application/json': { schema: spec.body } },
          },
        }),
    responses: responsesOf(spec, audience),
  };
}

const PAGE_FORM = {
  page: z.enum(['body']).optional().describe('With `body`, the cursor of the next page is in the body too.'),
};

function headersOf(spec: RouteSpec, audience: Audience) {
  const shape: Record<string, z.ZodType> = {};
  if (hasProject(spec) && audience === 'all') {
    shape['X-Project-Id'] = z
      .string()
      .optional()
      .describe('Selects the project of a session. An API key has its own project.');
  }
  if (spec.idempotent === true) {
    shape['Idempotency-Key'] = z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/)
      .optional()
      .describe('For 24 hours, the same key and body give the first response again.');
  }
  if (spec.success.stream === true) {
    shape['Last-Event-ID'] = z
      .string()
      .optional()
      .describe('The `id` of the last event that you have seen. The stream sends the events after it.');
  }
  if (spec.waits === true) {
    shape['Prefer'] = z
      .string()
      .optional()
      .meta({
        description: `\`wait=N\` (RFC 7240): the response comes when the run has ended or after N seconds, at most ${LONGEST_WAIT_SECONDS}.`,
        example: 'wait=25',
      });
  }
  if (isTagged(spec) && audience === 'all') {
    shape['If-None-Match'] = z
      .string()
      .optional()
      .describe('The `ETag` of your copy. The response is 304 while the content is the same.');
  }
  if (spec.conditional !== undefined) {
    shape['If-Match'] = z.string().optional().describe('The `ETag` that you have seen.');
    if (spec.conditional === 'create') {
      shape['If-None-Match'] = z.string().optional().describe('`*` if the resource must not exist yet.');
    }
  }
  return Object.keys(shape).length === 0 ? {} : { header: z.object(shape) };
}

/** Returns the ways in which a caller of the operation may authenticate. */
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

function scopeNote(spec: RouteSpec): string {
  if (spec.auth === 'owner-session' || spec.auth === 'returning-owner') {
    return 'Only the browser session of the account’s owner may call this; an API key cannot act as the owner.';
  }
  return spec.scope === undefined ? '' : `API keys need the scope \`${spec.scope}\`.`;
}

/** Returns a note with the errors of this operation alone. The shared response names common errors and those of ids. */
function errorNote(spec: RouteSpec): string {
  const ofIds = new Set(notFoundOf(spec.path).values());
  const codes = ownErrorsOf(spec).filter((code) => !ofIds.has(code));
  return codes.length === 0 ? '' : `Errors: ${codes.map((code) => `\`${code}\``).join(', ')}.`;
}
