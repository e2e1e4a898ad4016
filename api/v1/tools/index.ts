import { z } from 'zod';
import * as tools from '#core/integrations/tools/index.ts';
import { mixingIn, readRoutine, type ProvenRoutine } from '#core/authoring/routines/index.ts';
import type { Deps } from '../../deps.ts';
import { listReply } from '../../http/links.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { routineParams } from '../routines/fields.ts';
import { toolRuleRoutes } from './rules.ts';
import {
  discoverParams,
  discovery,
  policyParams,
  policyPatch,
  presentPolicy,
  toolPolicy,
  type PolicyWarning,
} from './schemas.ts';

const route = routesOf('Tools');

const discoverTools = route('POST /v1/routines/:routineId/connections/:connectionId/discover', {
  id: 'discoverTools',
  summary: 'Ask a connection for its tools',
  description:
    'Each tool gets a disabled policy for this routine. Another discovery adds new tools and marks vanished ones; a confirmed tool that has changed or vanished is disabled, and the routine goes back to draft.',
  scope: 'connections:write',
  params: discoverParams,
  success: { data: discovery, description: 'What was found.' },
  errors: ['routine_archived', 'connection_not_ready', 'provider_error'],
}).to(async ({ access, by, params, deps }) => {
  const { policies, skippedTools, droppedFields, ...counts } = await tools.discoverTools(
    deps,
    { projectId: access.projectId, ...params },
    by,
  );
  const present = await presenterOf(deps, access, params);
  return {
    data: {
      ...counts,
      skippedTools: skippedTools.map(({ tool, ...why }) => ({ name: tool, ...why })),
      droppedFields: droppedFields.map(({ tool, ...why }) => ({ name: tool, ...why })),
      tools: policies.map((policy) => present(policy)),
    },
  };
});

const listTools = route('GET /v1/routines/:routineId/tools', {
  id: 'listTools',
  summary: 'List the tool policies of a routine',
  mcp: {
    toolset: 'connections',
    view: ['id', 'connectionId', 'name', 'title', 'description', 'state', 'warnings'],
  },
  scope: 'connections:read',
  params: routineParams,
  query: pageQuery('policy', {}),
  success: { data: z.array(toolPolicy), description: 'Newest first.' },
}).to(async ({ access: { projectId }, params: { routineId }, query, deps }) => {
  const present = await presenterOf(deps, { projectId }, { routineId });
  const page = pageOf(query);
  const found = await tools.listPolicies(deps.database, { projectId, routineId }, page);
  return listReply(found, page, (policy) => present(policy));
});

const updateToolPolicy = route('PATCH /v1/routines/:routineId/tools/:policyId', {
  id: 'updateToolPolicy',
  summary: 'Confirm or restrict a tool',
  description:
    'With `confirmAutomaticExecution: true` runs of the routine may call the tool in its present definition. Without it a policy can only be made stricter. Any change is material: the routine goes back to draft.',
  scope: 'connections:write',
  params: policyParams,
  body: policyPatch,
  success: { data: toolPolicy, description: 'The policy.' },
  errors: ['confirmation_required', 'routine_archived', 'precondition_failed'],
}).to(async ({ access, by, params, body, deps }) => {
  const { projectId } = access;
  const changed = await tools.changePolicy(deps, { projectId, ...params, by, patch: body });
  const present = await presenterOf(deps, access, params);
  const unseen = body.confirmAutomaticExecution === true && body.definitionHash === undefined;
  return { data: present(changed, unseen ? [UNSEEN] : []) };
});

const UNSEEN: PolicyWarning = {
  code: 'definition_hash_missing',
  message:
    'The confirmation named no definitionHash, so it holds for the definition that was discovered last. Send the hash of the definition that you have read.',
};

async function presenterOf(
  { database }: Deps,
  { projectId }: { projectId: string },
  { routineId }: { routineId: string },
) {
  const routine = await readRoutine(database, projectId, routineId);
  return (policy: tools.ToolPolicy, warnings: readonly PolicyWarning[] = []) =>
    presentPolicy(policy, [...mixingWith(routine, policy), ...leftOutOf(policy), ...warnings]);
}

function leftOutOf({ readable }: tools.ToolPolicy): PolicyWarning[] {
  if (readable === null || readable.leftOut.length === 0) return [];
  const shown = readable.leftOut.slice(0, MAX_SHOWN_KEYWORDS).map(({ place, reason }) => `${place} (${reason})`);
  const more = readable.leftOut.length - shown.length;
  const message = `Not checked, as it cannot be read: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
  return [{ code: 'schema_left_out', message }];
}

const MAX_SHOWN_KEYWORDS = 10;

function mixingWith(routine: ProvenRoutine, policy: tools.ToolPolicy): PolicyWarning[] {
  const { id: policyId, toolName, connectionId, annotations } = policy;
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations ?? {};
  const others = routine.callableTools.filter((tool) => tool.policyId !== policyId);
  const hints = { readOnly: readOnlyHint, destructive: destructiveHint, openWorld: openWorldHint };
  const own = { policyId, toolName, connectionId, connectionName: null, hints };
  const message = mixingIn(routine, [...others, own], policyId);
  return message === undefined ? [] : [{ code: 'mixes_untrusted_and_outward', message }];
}

export const toolRoutes: readonly Route[] = [discoverTools, listTools, updateToolPolicy, ...toolRuleRoutes];
