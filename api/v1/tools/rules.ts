import { z } from 'zod';
import { rules } from '#core/integrations/tools/index.ts';
import { instant, timestamp } from '#lib/schemas.ts';
import { listReply } from '../../http/links.ts';
import { present } from '../../http/present.ts';
import { component, idOf, pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { policyParams } from './schemas.ts';

const route = routesOf('Tools');

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

const conditions = z
  .array(condition)
  .min(1)
  .max(20)
  .describe(
    'A call must meet all conditions. A missing argument, an argument of another type, and a number with more digits than a double holds meet no condition. Arguments without a condition may have any value.',
  );

const fields = {
  conditions,
  expiresAt: timestamp.nullable(),
  maxUses: z.number().int().nullable().describe('The most calls that the rule lets through; null for no limit.'),
};

const toolRule = component('ToolRule', {
  id: idOf('toolRule'),
  policyId: idOf('policy'),
  definitionHash: z
    .string()
    .describe('Hash of the definition for which the rule was made. The rule ends when the definition changes.'),
  ...fields,
  words: z.string().describe('The calls that the rule lets through, in words.'),
  uses: z.number().int(),
  createdBy: z.string().nullable().describe('Id of the person, or of the API key.'),
  createdAt: timestamp,
  revokedAt: timestamp.nullable(),
});

function presentRule(rule: rules.ToolRule) {
  return present(toolRule, { ...rule, words: rules.ruleInWords(rule), conditions: [...rule.conditions] });
}

const listToolRules = route('GET /v1/routines/:routineId/tools/:policyId/rules', {
  id: 'listToolRules',
  summary: 'List the standing rules of a held tool',
  description: 'The list includes rules that were revoked, have expired or are used up.',
  scope: 'connections:read',
  params: policyParams,
  query: pageQuery('toolRule', {}),
  success: { data: z.array(toolRule), description: 'Newest first.' },
}).to(async ({ access: { projectId }, params, query, deps }) => {
  const page = pageOf(query);
  return listReply(await rules.listRules(deps.database, { projectId, ...params }, page), page, presentRule);
});

const createToolRule = route('POST /v1/routines/:routineId/tools/:policyId/rules', {
  id: 'createToolRule',
  summary: 'Make a standing rule for a held tool',
  description:
    'For a tool whose policy has the state `hold`: a call that meets all conditions is made without a person, and its step names the rule. The rule ends with the definition of the tool that is confirmed now.',
  scope: 'connections:write',
  params: policyParams,
  body: component('CreateToolRule', {
    conditions,
    expiresAt: instant.nullable().default(null).describe('When the rule ends; null for never.'),
    maxUses: z.number().int().min(1).max(1_000_000).nullable().default(null),
  }),
  idempotent: true,
  success: { status: 201, data: toolRule, description: 'The rule.' },
  errors: ['routine_archived', 'limit_reached'],
}).to(async ({ access: { projectId }, by, params, body, deps, newId }) => ({
  data: presentRule(
    await rules.createRule(deps.database, by, { projectId, ...params, ...body, id: newId('toolRule') }),
  ),
}));

const deleteToolRule = route('DELETE /v1/routines/:routineId/tools/:policyId/rules/:ruleId', {
  id: 'deleteToolRule',
  summary: 'Revoke a standing rule',
  description: 'From now on the calls that the rule let through wait for a person again.',
  scope: 'connections:write',
  params: policyParams.extend({ ruleId: idOf('toolRule') }),
  success: { data: toolRule, description: 'The revoked rule.' },
}).to(async ({ access: { projectId }, by, params, deps }) => ({
  data: presentRule(await rules.revokeRule(deps.database, by, { projectId, ...params })),
}));

export const toolRuleRoutes: readonly Route[] = [listToolRules, createToolRule, deleteToolRule];
