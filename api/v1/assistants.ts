import { z } from 'zod';
import * as programs from '#core/accounts/programs/index.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { route, type Route } from '../route.ts';

const scopes = z.array(z.enum(SCOPES));

const isVerified = z.boolean().meta({
  description: 'True when the operator registered the assistant. A client that registered itself is unverified.',
});

const assistant = z
  .strictObject({
    id: z.string(),
    clientName: z.string(),
    isVerified,
    scopes,
    grantedBy: z.strictObject({ id: z.string(), name: z.string() }),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable().meta({ description: 'Last use, noted at most once a minute.' }),
  })
  .meta({ id: 'Assistant' });

const asked = z
  .strictObject({
    clientId: z.string(),
    clientName: z.string(),
    redirectHost: z.string().meta({ description: 'Address to which the browser goes afterwards, with the code.' }),
    isVerified,
    scopes,
  })
  .meta({ id: 'AskedConsent' });

const oauthQuery = z.string().min(1).max(20_000).meta({
  description: 'The unchanged `request` of the redirect from the authorization server.',
});

const onward = z
  .strictObject({ redirectTo: z.string().meta({ description: 'Address to which the browser goes.' }) })
  .meta({ id: 'DecidedConsent' });

const MAY_BE_GONE = ['attempt_not_found', 'attempt_expired'] as const;

const listAssistants = route({
  method: 'GET',
  path: '/v1/assistants',
  id: 'listAssistants',
  tag: 'Assistants',
  summary: 'List the assistants that people have connected to the project',
  auth: 'project-session',
  mcp: false,
  success: {
    status: 200,
    data: z.array(assistant),
    description: 'The assistants of all people of the project, the latest first; at most 500.',
  },
}).to(async ({ access, deps }) => {
  const found = await programs.listAssistants(deps.database, access.projectId);
  return { data: found.map((each) => present(assistant, each)) };
});

const revokeAssistant = route({
  method: 'DELETE',
  path: '/v1/assistants/:assistantId',
  id: 'revokeAssistant',
  tag: 'Assistants',
  summary: 'Revoke the access of an assistant',
  description:
    'Takes effect with the next request of the assistant. People disconnect their own assistants; owners and admins also disconnect those of other people.',
  auth: 'project-session',
  mcp: false,
  params: z.strictObject({
    assistantId: z
      .string()
      .regex(/^[A-Za-z0-9]{1,64}$/)
      .meta({ description: 'Id of the assistant, from the list of assistants.' }),
  }),
  success: { status: 200, data: assistant, description: 'The assistant without access.' },
  errors: ['forbidden'],
}).to(async ({ access: { organizationId, projectId }, by, params, deps }) => {
  const input = { organizationId, projectId, id: params.assistantId };
  const revoked = await transaction(deps.database, (tx) => programs.disconnectAssistant(tx, by, input));
  return { data: present(assistant, revoked) };
});

const readAssistantConsent = route({
  method: 'POST',
  path: '/v1/assistant-consents/read',
  id: 'readAssistantConsent',
  tag: 'Assistants',
  summary: 'Read which assistant asks for access',
  auth: 'session',
  mcp: false,
  body: z.strictObject({ oauthQuery }),
  success: { status: 200, data: asked, description: 'The access that the assistant asks for.' },
  errors: MAY_BE_GONE,
}).to(async ({ body, deps }) => ({
  data: present(asked, await programs.readAskedConsent(deps.database, body.oauthQuery)),
}));

const approveAssistantConsent = route({
  method: 'POST',
  path: '/v1/assistant-consents/approve',
  id: 'approveAssistantConsent',
  tag: 'Assistants',
  summary: 'Give an assistant access to the project',
  description: 'Only scopes that the assistant requested. Only owners and admins can give scopes that write.',
  auth: 'project-session',
  mcp: false,
  fresh: true,
  body: z.strictObject({
    oauthQuery,
    scopes: scopes
      .min(1)
      .max(SCOPES.length)
      .transform((given) => [...new Set(given)]),
  }),
  success: { status: 200, data: onward, description: 'The assistant has access.' },
  errors: [...MAY_BE_GONE, 'forbidden'],
}).to(async ({ access: { organizationId, projectId, actor }, by, body, deps }) => {
  const input = { organizationId, projectId, sessionId: actor.sessionId, ...body };
  return { data: await programs.approveAssistant(deps, by, input) };
});

const denyAssistantConsent = route({
  method: 'POST',
  path: '/v1/assistant-consents/deny',
  id: 'denyAssistantConsent',
  tag: 'Assistants',
  summary: 'Refuse an assistant',
  auth: 'session',
  mcp: false,
  body: z.strictObject({ oauthQuery }),
  success: { status: 200, data: onward, description: 'The assistant is refused and told so.' },
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
