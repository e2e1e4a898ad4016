import type { Shape } from '#ui/api/types.ts';

type MaterialField = Shape<'RoutineVersionSummary'>['changed'][number];

/** Names the fields whose change returns a routine to draft; the compiler reports one that is missing. */
export const MATERIAL_FIELDS: Readonly<Record<MaterialField, string>> = {
  instructions: 'instructions',
  variables: 'variables',
  overridable: 'variables of one run',
  model: 'model',
  skills: 'skills',
  limits: 'limits',
  carryResult: 'previous result',
  builtInTools: 'built-in tools',
  outcome: 'outcome',
  checks: 'checks',
  gate: 'gate',
  resultSchema: 'result schema',
  resultKey: 'result key',
  tools: 'tools',
};

/** Joins names: "the model, the skills and the limits". */
export function listInWords(names: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
}

/** Returns the material fields among these, in words. */
export function materialAmong(fields: readonly string[]): readonly string[] {
  return Object.entries(MATERIAL_FIELDS).flatMap(([field, label]) =>
    fields.includes(field) ? [label] : [],
  );
}
