import { z } from 'zod';
import { component } from '../../http/schemas.ts';
import { creationOf, patchOf, type Fields, definitionForm } from '#core/authoring/definition/index.ts';
import type { ErrorCode } from '#lib/errors.ts';
import { namedFields, putFields, renamedFields } from '../external-names.ts';
import { FIELDS } from './fields.ts';

/** Routines get tools only by discovery and confirmation, so a list of tools in the body is refused. */
const inlineTools = z
  .array(z.unknown())
  .optional()
  .superRefine((tools, context) => {
    if (tools === undefined || tools.length === 0) return;
    context.addIssue({
      code: 'custom',
      message: 'inline tools are not accepted; create a connection and discover its tools',
      params: { code: 'tool_policy_requires_connection' },
    });
  })
  .meta({ description: 'Has to be an empty list, because tools come from a saved connection.', maxItems: 0 });

const noTools = { tools: inlineTools, toolPolicies: inlineTools };

/** Returns the body that creates a routine with these fields. */
export function bodyWith<T extends Fields>(fields: T) {
  return z.strictObject({ ...creationOf(fields), ...noTools });
}

export const routineBody = bodyWith(FIELDS)
  .extend(namedFields)
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...routine }) => routine)
  .meta({ id: 'CreateRoutine' });

export const putBody = bodyWith(FIELDS)
  .extend(putFields)
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...routine }) => routine)
  .meta({ id: 'PutRoutine' });

export const checkedRoutine = bodyWith(FIELDS)
  .extend({
    ...namedFields,
    skillLengths: z
      .record(z.string().max(80), z.number().int().min(0).max(100_000))
      .default({})
      .describe(
        'Lengths of custom skills that will be written before the routine, by id or, for new skills, by their name in `skills`.',
      ),
  })
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...routine }) => routine)
  .meta({ id: 'CheckRoutine' });

export const routinePatch = z
  .strictObject({ ...patchOf(FIELDS), ...renamedFields, ...noTools })
  .partial()
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...patch }) => patch)
  .meta({ id: 'UpdateRoutine' });

export const activateBody = component('ActivateRoutine', {
  acceptForecast: z.boolean().default(false).meta({
    description: 'Has no effect any more, because a forecast never prevents activation.',
    deprecated: true,
  }),
  refuseOverBudget: z
    .boolean()
    .default(false)
    .describe('Refuses the activation if the forecast says that a limit runs out within 30 days.'),
});

export const pauseBody = component('PauseRoutine', {
  cancelRuns: z.boolean().default(false).describe('Also cancels the runs of the routine that are open.'),
});

/** Response header of all operations that save a routine. */
export const etag = { ETag: 'The version, for `If-Match` on PATCH and PUT.' };

export const saveErrors = [
  'invalid_schedule',
  'invalid_timezone',
  'invalid_model',
  'invalid_skill',
  'invalid_variable',
  'invalid_gate',
  'invalid_webhook_url',
  'tool_policy_requires_connection',
  'models_unavailable',
  'external_key_taken',
] as const satisfies readonly ErrorCode[];

/** Lists the material fields in words. */
export function listed(last: 'and' | 'or'): string {
  const type = last === 'and' ? 'conjunction' : 'disjunction';
  const names = definitionForm.names.map((name) => `\`${name}\``);
  return new Intl.ListFormat('en-GB', { type }).format(names);
}
