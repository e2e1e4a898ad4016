import { definitionForm } from '#core/routines/index.ts';
import type { ErrorCode } from '#lib/errors.ts';

/** Declares what every operation that saves a routine has in common. */
export const etag = { ETag: 'The version, for `If-Match` on PATCH.' };

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
] as const satisfies readonly ErrorCode[];

/** Lists the material fields in words. */
export function listed(last: 'and' | 'or'): string {
  const type = last === 'and' ? 'conjunction' : 'disjunction';
  const names = definitionForm.names.map((name) => `\`${name}\``);
  return new Intl.ListFormat('en-GB', { type }).format(names);
}
