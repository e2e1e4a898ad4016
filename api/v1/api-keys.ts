import { z } from 'zod';
import * as identity from '#core/identity/index.ts';
import { listReply } from '../http/links.ts';
import {
  EXAMPLE,
  idOf,
  iso,
  isoOrNull,
  nameOf,
  pageOf,
  pageQuery,
  timestamp,
} from '../http/schemas.ts';
import { route, type Route } from '../route.ts';

const apiKey = z
  .strictObject({
    id: idOf('apiKey', EXAMPLE.apiKey),
    name: z.string(),
    prefix: z.string().meta({ description: 'The part of the key that may be shown.' }),
    scopes: z.array(z.enum(identity.SCOPES)),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable().meta({ description: 'Written at most once a minute.' }),
  })
  .meta({ id: 'ApiKey' });

const listApiKeys = route({
  method: 'GET',
  path: '/v1/api-keys',
  id: 'listApiKeys',
  tag: 'API keys',
  summary: 'List the API keys of the project',
  auth: 'project-session',
  query: pageQuery({}),
  success: {
    status: 200,
    data: z.array(apiKey),
    description: 'Newest first; revoked ones are gone.',
  },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query, 'apiKey');
  const found = await identity.listApiKeys(deps.database, access.projectId, page);
  return listReply(found, page, presentApiKey);
});

const createApiKey = route({
  method: 'POST',
  path: '/v1/api-keys',
  id: 'createApiKey',
  tag: 'API keys',
  summary: 'Create an API key',
  description: 'The key is in this response and nowhere else: only its SHA-256 is stored.',
  auth: 'project-session',
  body: z.strictObject({
    name: nameOf(100).meta({ example: 'nightly import' }),
    scopes: z
      .array(z.enum(identity.SCOPES))
      .min(1)
      .max(identity.SCOPES.length)
      .default([...identity.DEFAULT_SCOPES])
      .transform((scopes) => [...new Set(scopes)]),
  }),
  idempotent: true,
  success: {
    status: 201,
    data: z
      .strictObject({
        ...apiKey.shape,
        key: z.string().meta({ description: 'Shown once.', example: 'ras_4fGk29Xa_…' }),
      })
      .meta({ id: 'CreatedApiKey' }),
    description: 'The API key with its plaintext.',
  },
}).to(async ({ access, body, deps, newId }) => {
  const { apiKey: created, plaintext } = await identity.createApiKey(deps.database, {
    id: newId('apiKey'),
    projectId: access.projectId,
    userId: access.actor.userId,
    tag: deps.config.PRODUCT_TAG,
    ...body,
  });
  return { data: { ...presentApiKey(created), key: plaintext } };
});

const revokeApiKey = route({
  method: 'DELETE',
  path: '/v1/api-keys/:apiKeyId',
  id: 'revokeApiKey',
  tag: 'API keys',
  summary: 'Revoke an API key',
  description: 'Takes effect with the next request.',
  auth: 'project-session',
  params: z.strictObject({ apiKeyId: idOf('apiKey', EXAMPLE.apiKey) }),
  success: { status: 200, data: apiKey, description: 'The key that was revoked.' },
}).to(async ({ access, params, deps }) => ({
  data: presentApiKey(
    await identity.revokeApiKey(deps.database, access.projectId, params.apiKeyId),
  ),
}));

export const apiKeyRoutes: readonly Route[] = [listApiKeys, createApiKey, revokeApiKey];

function presentApiKey(row: identity.ApiKey) {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: [...row.scopes],
    createdAt: iso(row.createdAt),
    lastUsedAt: isoOrNull(row.lastUsedAt),
  };
}
