import { z } from 'zod';
import { rules } from '#core/integrations/tools/index.ts';
import { instant, timestamp } from '#lib/schemas.ts';
import { listReply } from '../../http/links.ts';
import { present } from '../../http/present.ts';
import { EXAMPLE, idOf, pageOf, pageQuery } from '../../http/schemas.ts';
import { route, type Route } from '../../route.ts';
import { policyParams } from './schemas.ts';

const tag = 'Tools';

const pointer = z
  .string()
  .max(500)
  .regex(/^(\/([^~/]|~[01])*)+$/, 'a JSON Pointer (RFC 6901) of an argument')
  .meta({ description: 'JSON Pointer (RFC 6901) to an argument.', example: '/repository' });
const value = z.union([z.string().max(2_000), z.number(), z.boolean(), z.null()]);

/** Each condition has exactly one comparison. */
const condition = z
  .union([
    z.strictObject({ pointer, equals: value }),
    z.strictObject({ pointer, in: z.array(value).min(1).max(100) }),
    z.strictObject({ pointer, prefix: z.string().min(1).max(2_000) }),
    z.strictObject({ pointer, atMost: z.number() }),
  ])
  .meta({ id: 'ToolRuleCondition', example: { pointer: '/repository', equals: 'website' } });

const conditions = z.array(condition).min(1).max(20).meta({
  description:
    'A call must meet all conditions. A missing argument, an argument of another type, and a number with more digits than a double holds meet no condition. Arguments without a condition may have any value.',
});

const fields = {
  conditions,
  expiresAt: timestamp.nullable(),
  maxUses: z.number().int().nullable().meta({ description: 'The most calls of the rule; null for no limit.' }),
};

const toolRule = z
  .strictObject({
    id: idOf('toolRule', EXAMPLE.toolRule),
    policyId: idOf('policy', EXAMPLE.policy),
    definitionHash: z.string().meta({
      description: 'Hash of the definition for which the rule was made. The rule ends when the definition changes.',
    }),
    ...fields,
    words: z.string().meta({ description: 'The calls that the rule lets through, in words.' }),
    uses: z.number().int(),
    createdBy: z.string().nullable().meta({ description: 'Id of the person, or of the API key.' }),
    createdAt: timestamp,
    revokedAt: timestamp.nullable(),
  })
  .meta({ id: 'ToolRule' });

function presentRule(rule: rules.ToolRule) {
  return present(toolRule, { ...rule, words: rules.ruleInWords(rule), conditions: [...rule.conditions] });
}

const listToolRules = route({
  method: 'GET',
  path: '/v1/routines/:routineId/tools/:policyId/rules',
  id: 'listToolRules',
  tag,
  summary: 'List the standing rules of a held tool',
  description: 'The list includes rules that were revoked, have expired or are used up.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:read',
  params: policyParams,
  query: pageQuery('toolRule', {}),
  success: { status: 200, data: z.array(toolRule), description: 'Newest first.' },
}).to(async ({ access: { projectId }, params, query, deps }) => {
  const page = pageOf(query);
  return listReply(await rules.listRules(deps.database, { projectId, ...params }, page), page, presentRule);
});

const createToolRule = route({
  method: 'POST',
  path: '/v1/routines/:routineId/tools/:policyId/rules',
  id: 'createToolRule',
  tag,
  summary: 'Make a standing rule for a held tool',
  description:
    'For a tool whose policy has the state `hold`: a call that meets all conditions is made without a person, and its step names the rule. The rule ends with the definition of the tool that is confirmed now.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  params: policyParams,
  body: z
    .strictObject({
      conditions,
      expiresAt: instant.nullable().default(null).meta({ description: 'When the rule ends; null for never.' }),
      maxUses: z.number().int().min(1).max(1_000_000).nullable().default(null),
    })
    .meta({ id: 'CreateToolRule' }),
  idempotent: true,
  success: { status: 201, data: toolRule, description: 'The rule.' },
  errors: ['routine_archived', 'limit_reached'],
}).to(async ({ access: { projectId }, by, params, body, deps, newId }) => ({
  data: presentRule(
    await rules.createRule(deps.database, by, { projectId, ...params, ...body, id: newId('toolRule') }),
  ),
}));

const deleteToolRule = route({
  method: 'DELETE',
  path: '/v1/routines/:routineId/tools/:policyId/rules/:ruleId',
  id: 'deleteToolRule',
  tag,
  summary: 'Revoke a standing rule',
  description: 'From now on the calls that the rule let through wait for a person again.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:write',
  params: policyParams.extend({ ruleId: idOf('toolRule', EXAMPLE.toolRule) }),
  success: { status: 200, data: toolRule, description: 'The revoked rule.' },
}).to(async ({ access: { projectId }, by, params, deps }) => ({
  data: presentRule(await rules.revokeRule(deps.database, by, { projectId, ...params })),
}));

export const toolRuleRoutes: readonly Route[] = [listToolRules, createToolRule, deleteToolRule];
