import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { LONGEST_WAIT_SECONDS } from '../http/prefer.ts';
import type { RouteSpec } from '../route.ts';
import { hasProject, responsesOf } from './responses.ts';

/** Describes one route: who may call it, what it takes and what it responds with. */
export function operation(spec: RouteSpec): ZodOpenApiOperationObject {
  return {
    operationId: spec.id,
    tags: [spec.tag],
    summary: spec.summary,
    description: [spec.description ?? `${spec.summary}.`, scopeNote(spec)].filter(Boolean).join('\n\n'),
    ...(spec.deprecated !== undefined && { deprecated: true }),
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
  if (spec.waits === true) {
    shape['Prefer'] = z
      .string()
      .optional()
      .meta({
        description: `\`wait=N\` (RFC 7240): the response comes when the run has ended or after N seconds, at most ${LONGEST_WAIT_SECONDS}.`,
        example: 'wait=25',
      });
  }
  if (spec.conditional !== undefined) {
    shape['If-Match'] = z.string().optional().meta({ description: 'The `ETag` you have seen.' });
    if (spec.conditional === 'create') {
      shape['If-None-Match'] = z.string().optional().meta({ description: '`*` where it must not be there yet.' });
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

/** Says which callers may use the operation, beyond its security schemes. */
function scopeNote(spec: RouteSpec): string {
  if (spec.auth === 'owner-session' || spec.auth === 'returning-owner') {
    return 'Only the browser session of the account’s owner may call this; an API key cannot act as the owner.';
  }
  return spec.scope === undefined ? '' : `API keys need the scope \`${spec.scope}\`.`;
}
