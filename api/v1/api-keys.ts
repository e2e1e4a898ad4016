import { z } from 'zod';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { instant, nameOf, timestamp } from '#lib/schemas.ts';
import { component, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('API keys');

const apiKey = component('ApiKey', {
  id: idOf('apiKey'),
  name: z.string(),
  prefix: z.string().describe('The part of the key that may be shown.'),
  scopes: z.array(z.enum(organizations.SCOPES)),
  createdBy: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe('The person who made the key; null when their account is gone.'),
  createdAt: timestamp,
  expiresAt: timestamp.nullable().describe('When the key stops working; null for never.'),
  lastUsedAt: timestamp.nullable().describe('Last use of the key, noted at most once a minute.'),
});

const listApiKeys = route('GET /v1/api-keys', {
  id: 'listApiKeys',
  summary: 'List the API keys of the project',
  auth: 'project-session',
  query: pageQuery('apiKey', {}),
  success: {
    data: z.array(apiKey),
    description: 'Newest first, without revoked and expired keys.',
  },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listApiKeys(deps.database, access.projectId, page);
  return listReply(found, page, (row) => present(apiKey, row));
});

/** Scopes of a key whose creator names none. */
const DEFAULT_SCOPES = ['models:read', 'routines:read', 'runs:read', 'runs:write'] as const;

const createApiKey = route('POST /v1/api-keys', {
  id: 'createApiKey',
  summary: 'Create an API key',
  description:
    'Only this response has the key, because the service stores its SHA-256. Only owners and admins make keys with a write scope. A response that is repeated under its `Idempotency-Key` no longer has the key: revoke it and create another.',
  auth: 'project-session',
  fresh: true,
  body: z.strictObject({
    name: nameOf(100).meta({ example: 'nightly import' }),
    scopes: z
      .array(z.enum(organizations.SCOPES))
      .min(1)
      .max(organizations.SCOPES.length)
      .default([...DEFAULT_SCOPES])
      .transform((scopes) => [...new Set(scopes)])
      .describe(
        '`runs:write` starts, cancels, repeats and pins runs, and answers their questions. Values of variables that such a key gives for a run reach the model as data and not as instructions, unless the key has `routines:write` too; `overridable` of a routine lists the variables that may be given. `routines:write` changes what active routines do, `connections:write` which tools they may call.',
      ),
    expiresAt: instant.nullable().default(null).describe('When the key stops working, in the future; null for never.'),
  }),
  idempotent: true,
  shownOnce: ['key'],
  success: {
    status: 201,
    data: component('CreatedApiKey', {
      ...apiKey.shape,
      key: z.string().nullable().meta({
        description: 'The key, shown once; null when the response is repeated.',
        example: 'ras_4fGk29Xa_…',
      }),
    }),
    description: 'The API key with its plaintext.',
  },
  errors: ['forbidden', 'limit_reached'],
}).to(async ({ access: { organizationId, projectId }, by, body, deps, newId }) => {
  const { PRODUCT_TAG: tag } = deps.config;
  const input = { id: newId('apiKey'), organizationId, projectId, tag, ...body };
  const { apiKey: created, plaintext } = await transaction(deps.database, (tx) =>
    organizations.createApiKey(tx, by, input),
  );
  return { data: { ...present(apiKey, created), key: plaintext } };
});

const revokeApiKey = route('DELETE /v1/api-keys/:apiKeyId', {
  id: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'Takes effect with the next request.',
  auth: 'project-session',
  fresh: true,
  params: z.strictObject({ apiKeyId: idOf('apiKey') }),
  success: { data: apiKey, description: 'The revoked key.' },
}).to(async ({ access: { organizationId, projectId }, by, params, deps }) => {
  const input = { organizationId, projectId, id: params.apiKeyId };
  const revoked = await transaction(deps.database, (tx) => organizations.revokeApiKey(tx, by, input));
  return { data: present(apiKey, revoked) };
});

export const apiKeyRoutes: readonly Route[] = [listApiKeys, createApiKey, revokeApiKey];
