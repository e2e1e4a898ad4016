import { z } from 'zod';
import { changePolicy, discoverTools, listPolicies } from '#core/connections/index.ts';
import { readRoutine } from '#core/routines/index.ts';
import type { ProjectAccess } from '../../access.ts';
import { listReply } from '../../http/links.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { route } from '../../route.ts';
import { routineParams } from '../routines/schemas.ts';
import {
  discoverParams,
  discovery,
  policyParams,
  policyPatch,
  presentPolicy,
  toolPolicy,
} from './tool-schemas.ts';

const tag = 'Tools';

export const postDiscover = route({
  method: 'POST',
  path: '/v1/routines/:routineId/connections/:connectionId/discover',
  id: 'discoverTools',
  tag,
  summary: 'Ask a connection for its tools',
  description:
    'Each tool gets a policy for this routine, disabled. Asking again adds new tools and marks vanished ones; a tool that changed since it was confirmed, or vanished, is disabled, and the routine goes back to draft.',
  auth: 'key-or-session',
  scope: 'connections:write',
  params: discoverParams,
  notFound: 'connection_not_found',
  success: { status: 200, data: discovery, description: 'What was found.' },
  errors: [
    'routine_not_found',
    'connection_not_found',
    'routine_archived',
    'connection_not_ready',
    'provider_error',
  ],
}).to(async ({ access, params, deps }) => {
  const { policies, skippedTools, ...counts } = await discoverTools(deps, {
    projectId: access.projectId,
    ...params,
  });
  return {
    data: {
      ...counts,
      skippedTools: skippedTools.map(({ tool, reason }) => ({ name: tool, reason })),
      tools: policies.map(presentPolicy),
    },
  };
});

export const getTools = route({
  method: 'GET',
  path: '/v1/routines/:routineId/tools',
  id: 'listTools',
  tag,
  summary: 'List the tool policies of a routine',
  auth: 'key-or-session',
  scope: 'connections:read',
  params: routineParams,
  notFound: 'routine_not_found',
  query: pageQuery({}),
  success: { status: 200, data: z.array(toolPolicy), description: 'Newest first.' },
  errors: ['routine_not_found'],
}).to(async ({ access: { projectId }, params: { routineId }, query, deps }) => {
  await readRoutine(deps.database, projectId, routineId);
  const page = pageOf(query, 'policy');
  const found = await listPolicies(deps.database, { projectId, routineId }, page);
  return listReply(found, page, presentPolicy);
});

export const patchTool = route({
  method: 'PATCH',
  path: '/v1/routines/:routineId/tools/:policyId',
  id: 'updateToolPolicy',
  tag,
  summary: 'Confirm or restrict a tool',
  description:
    'With `confirmAutomaticExecution: true` runs of the routine may call the tool as it is defined now. Without it a policy can only be made stricter. Any change is material: the routine goes back to draft.',
  auth: 'key-or-session',
  scope: 'connections:write',
  params: policyParams,
  notFound: 'policy_not_found',
  body: policyPatch,
  success: { status: 200, data: toolPolicy, description: 'The policy.' },
  errors: [
    'routine_not_found',
    'policy_not_found',
    'confirmation_required',
    'routine_archived',
    'precondition_failed',
  ],
}).to(async ({ access, params, body, deps }) => ({
  data: presentPolicy(
    await changePolicy(deps.database, {
      projectId: access.projectId,
      ...params,
      actor: actorId(access),
      patch: body,
    }),
  ),
}));

function actorId({ actor }: ProjectAccess): string {
  return actor.kind === 'session' ? actor.userId : actor.keyId;
}
