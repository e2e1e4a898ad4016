import { z } from 'zod';
import { component } from '../http/schemas.ts';
import * as programs from '#core/accounts/programs/index.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Assistants');

const scopes = z.array(z.enum(SCOPES));

const isVerified = z
  .boolean()
  .describe('True when the operator registered the assistant. A client that registered itself is unverified.');

const assistant = component('Assistant', {
  id: z.string(),
  clientName: z.string(),
  isVerified,
  scopes,
  grantedBy: z.strictObject({ id: z.string(), name: z.string() }),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable().describe('Last use, noted at most once a minute.'),
});

const asked = component('AskedConsent', {
  clientId: z.string(),
  clientName: z.string(),
  redirectHost: z.string().describe('Address to which the browser goes afterwards, with the code.'),
  isVerified,
  scopes,
});

const oauthQuery = z
  .string()
  .min(1)
  .max(20_000)
  .describe('The unchanged `request` of the redirect from the authorization server.');

const onward = component('DecidedConsent', {
  redirectTo: z.string().describe('Address to which the browser goes.'),
});

const MAY_BE_GONE = ['attempt_not_found', 'attempt_expired'] as const;

const listAssistants = route('GET /v1/assistants', {
  id: 'listAssistants',
  summary: 'List the assistants that people have connected to the project',
  auth: 'project-session',
  success: {
    data: z.array(assistant),
    description: 'The assistants of all people of the project, the latest first; at most 500.',
  },
}).to(async ({ access, deps }) => {
  const found = await programs.listAssistants(deps.database, access.projectId);
  return { data: found.map((each) => present(assistant, each)) };
});

const revokeAssistant = route('DELETE /v1/assistants/:assistantId', {
  id: 'revokeAssistant',
  summary: 'Revoke the access of an assistant',
  description:
    'Takes effect with the next request of the assistant. People disconnect their own assistants; owners and admins also disconnect those of other people.',
  auth: 'project-session',
  params: z.strictObject({
    assistantId: z
      .string()
      .regex(/^[A-Za-z0-9]{1,64}$/)
      .describe('Id of the assistant, from the list of assistants.'),
  }),
  success: { data: assistant, description: 'The assistant without access.' },
  errors: ['forbidden'],
}).to(async ({ access: { organizationId, projectId }, by, params, deps }) => {
  const input = { organizationId, projectId, id: params.assistantId };
  const revoked = await transaction(deps.database, (tx) => programs.disconnectAssistant(tx, by, input));
  return { data: present(assistant, revoked) };
});

const readAssistantConsent = route('POST /v1/assistant-consents/read', {
  id: 'readAssistantConsent',
  summary: 'Read which assistant asks for access',
  auth: 'session',
  body: z.strictObject({ oauthQuery }),
  success: { data: asked, description: 'The access that the assistant asks for.' },
  errors: MAY_BE_GONE,
}).to(async ({ body, deps }) => ({
  data: present(asked, await programs.readAskedConsent(deps.database, body.oauthQuery)),
}));

const approveAssistantConsent = route('POST /v1/assistant-consents/approve', {
  id: 'approveAssistantConsent',
  summary: 'Give an assistant access to the project',
  description: 'Only scopes that the assistant requested. Only owners and admins can give scopes that write.',
  auth: 'project-session',
  fresh: true,
  body: z.strictObject({
    oauthQuery,
    scopes: scopes
      .min(1)
      .max(SCOPES.length)
      .transform((given) => [...new Set(given)]),
  }),
  success: { data: onward, description: 'The assistant has access.' },
  errors: [...MAY_BE_GONE, 'forbidden'],
}).to(async ({ access: { organizationId, projectId, actor }, by, body, deps }) => {
  const input = { organizationId, projectId, sessionId: actor.sessionId, ...body };
  return { data: await programs.approveAssistant(deps, by, input) };
});

const denyAssistantConsent = route('POST /v1/assistant-consents/deny', {
  id: 'denyAssistantConsent',
  summary: 'Refuse an assistant',
  auth: 'session',
  body: z.strictObject({ oauthQuery }),
  success: { data: onward, description: 'The assistant is informed of the refusal.' },
  errors: MAY_BE_GONE,
}).to(async ({ access: { sessionId }, body, deps }) => ({
  data: await programs.denyAssistant(deps, { sessionId, ...body }),
}));

export const assistantRoutes: readonly Route[] = [
  listAssistants,
  revokeAssistant,
  readAssistantConsent,
  approveAssistantConsent,
  denyAssistantConsent,
];
