import { ROUTINE_FIELDS } from '#ui/api/routine-fields.ts';
import type { Shape } from '#ui/api/types.ts';

type MaterialField = Shape<'RoutineVersionSummary'>['changed'][number];

const material = Object.entries(ROUTINE_FIELDS).flatMap(([name, field]) =>
  field.material ? [[name, field.label.charAt(0).toLowerCase() + field.label.slice(1)]] : [],
);

/** Names the fields whose change returns a routine to draft, and its tools. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which fields are material
export const MATERIAL_FIELDS = { ...Object.fromEntries(material), tools: 'tools' } as Readonly<
  Record<MaterialField, string>
>;

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
