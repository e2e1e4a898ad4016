import { z } from 'zod';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import * as programs from '#core/accounts/programs/index.ts';
import { transaction } from '#lib/database/index.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { networkOf } from '../http/client-address.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { component, idOf, iso, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('API keys');
const scopes = z.array(z.enum(SCOPES));

const issuer = z.string().max(300).meta({
  description: 'The `iss` of the ID tokens.',
  example: 'https://token.actions.githubusercontent.com',
});
const audience = z.string().min(1).max(300).meta({
  description: 'The `aud` that the job asks its CI system for.',
  example: 'https://ras.example.com',
});

/** A pattern with a star must name an owner before the star, because all of GitHub has one issuer. */
const subjectPattern = z
  .string()
  .min(1)
  .max(500)
  .regex(
    /^(?:[^*]+|[^*]*[^*/:]\/[^*]*\*[^*:]*(?::[^*:]*\*?[^*:]*)*)$/,
    'must have at most one * between two colons, and name an owner and a slash before the first, such as repo:acme/*',
  )
  .meta({
    description: 'Matches the `sub` of the ID tokens. Between two colons, one `*` stands for any text.',
    example: 'repo:acme/site:ref:refs/heads/main',
  });

const ciTrust = component('CiTrust', {
  id: idOf('ciTrust'),
  name: z.string(),
  issuer,
  audience,
  subjectPattern: z.string(),
  scopes,
  createdBy: z
    .strictObject({ id: z.string(), name: z.string() })
    .describe('The person in whose name the keys are made.'),
  createdAt: timestamp,
});

const listCiTrusts = route('GET /v1/ci-trusts', {
  id: 'listCiTrusts',
  summary: 'List the CI sign-ins of the project',
  auth: 'project-session',
  query: pageQuery('ciTrust', {}),
  success: { data: z.array(ciTrust), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await programs.listCiTrusts(deps.database, access.projectId, page);
  return listReply(found, page, (row) => present(ciTrust, row));
});

const createCiTrust = route('POST /v1/ci-trusts', {
  id: 'createCiTrust',
  summary: 'Let the jobs of a CI system sign in',
  description:
    'A job of GitHub Actions, GitLab CI or another issuer of OpenID Connect then exchanges its ID token for an API key that works for an hour: the CI system stores no secret. Only owners and admins give scopes that write.',
  auth: 'project-session',
  fresh: true,
  body: component('CreateCiTrust', {
    name: nameOf(100).meta({ example: 'Deploy from main' }),
    issuer,
    audience,
    subjectPattern,
    scopes: scopes
      .min(1)
      .max(SCOPES.length)
      .transform((given) => [...new Set(given)]),
  }),
  idempotent: true,
  success: { status: 201, data: ciTrust, description: 'The CI sign-in.' },
  errors: ['forbidden', 'limit_reached'],
}).to(async ({ access: { organizationId, projectId }, by, body, deps, newId }) => {
  const input = { id: newId('ciTrust'), organizationId, projectId, ...body };
  const created = await transaction(deps.database, (tx) => programs.createCiTrust(tx, deps, by, input));
  return { data: present(ciTrust, created) };
});

const deleteCiTrust = route('DELETE /v1/ci-trusts/:ciTrustId', {
  id: 'deleteCiTrust',
  summary: 'End a CI sign-in',
  description: 'The keys that CI jobs got by this sign-in are revoked too.',
  auth: 'project-session',
  fresh: true,
  params: z.strictObject({ ciTrustId: idOf('ciTrust') }),
  success: { data: ciTrust, description: 'The ended CI sign-in.' },
}).to(async ({ access: { organizationId, projectId }, by, params, deps }) => {
  const input = { organizationId, projectId, id: params.ciTrustId };
  const deleted = await transaction(deps.database, (tx) => programs.deleteCiTrust(tx, by, input));
  return { data: present(ciTrust, deleted) };
});

const exchangeIdToken = route('POST /v1/auth/ci-token', {
  id: 'exchangeIdToken',
  summary: 'Exchange the ID token of a CI job for an API key',
  description:
    'The project must trust the issuer, audience and subject of the token, and a published key of the issuer must have signed it. `ras login --oidc` calls this operation.',
  auth: 'none',
  body: component('ExchangeIdToken', {
    projectId: idOf('project'),
    token: z.string().min(1).max(20_000).describe('The ID token, a JSON Web Token.'),
  }),
  success: {
    data: component('CiKey', {
      key: z.string().meta({ description: 'The API key.', example: 'ras_4fGk29Xa_…' }),
      projectId: idOf('project'),
      scopes,
      expiresAt: timestamp,
    }),
    description: 'The key. No other response shows it.',
  },
  errors: ['invalid_id_token', 'forbidden', 'limit_reached', 'rate_limited', 'service_unavailable'],
}).to(async ({ body, by, deps }) => {
  const address = by.address ?? '';
  const input = { ...body, tag: deps.config.PRODUCT_TAG, address };
  const { expiresAt, scopes: granted, ...rest } = await programs.exchangeIdToken(deps, input, networkOf(address));
  return { data: { ...rest, scopes: [...granted], expiresAt: iso(expiresAt) } };
});

export const ciTrustRoutes: readonly Route[] = [listCiTrusts, createCiTrust, deleteCiTrust, exchangeIdToken];
