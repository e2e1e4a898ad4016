import { ROUTINE_FIELDS } from '#ui/api/routine-fields.ts';
import type { Shape } from '#ui/api/types.ts';
import { parseExact } from '#ui/format/exact-number.ts';
import { isRecord } from '#ui/format/json-pointer.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';

/** The fields of a routine that people write; the model of a new one is chosen last. */
export type RoutineForm = Pick<Shape<'Routine'>, Exclude<keyof typeof ROUTINE_FIELDS, 'model'>> & {
  model: Shape<'ModelReference'> | null;
};

const defaults = Object.entries(ROUTINE_FIELDS).map(([name, field]) => [name, 'default' in field ? field.default : '']);

export const NEW_ROUTINE: RoutineForm = {
  ...Object.fromEntries(defaults),
  schedule: '0 7 * * *',
  timezone: VIEWER_ZONE,
  model: null,
};

/** Anchors of the parts of the form to which the chips lead. */
export const PARTS = { what: 'what-it-does', skills: 'skills', model: 'model', schedule: 'schedule' } as const;

/** Returns the first model of the service that can call tools. Such a model is good for most routines. */
export function goodForMost(models: readonly Shape<'ModelOption'>[]): Shape<'ModelOption'> | undefined {
  return models.find(({ connectionId, abilities }) => connectionId === null && abilities.tools !== false);
}

const FIELDS = Object.keys(NEW_ROUTINE);

/** Returns the fields of a routine that the form shows. */
export function formOf(routine: Shape<'Routine'>): RoutineForm {
  const given: Readonly<Record<string, unknown>> = { ...routine };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of the form is a field of a routine
  return Object.fromEntries(FIELDS.map((field) => [field, given[field]])) as RoutineForm;
}

/** Returns the fields that differ, by name. */
export function changedFields(before: RoutineForm, after: RoutineForm): (keyof RoutineForm)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the form
  return (FIELDS as (keyof RoutineForm)[]).filter((field) => !isSame(before[field], after[field]));
}

export function patchOf(form: RoutineForm, fields: readonly (keyof RoutineForm)[]) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fields of the form are fields of a patch
  return Object.fromEntries(fields.map((field) => [field, form[field]])) as Shape<'UpdateRoutine'>;
}

/** Compares two values. The order of keys does not count, and a key with undefined counts as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [mine, theirs] = [partsOf(a), new Map(partsOf(b))];
  return mine.length === theirs.size && mine.every(([key, part]) => theirs.has(key) && isSame(part, theirs.get(key)));
}

function partsOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, part]) => part !== undefined);
}

/** Maps the server's names of fields to those of the form, if they differ. */
export const FAULT_NAMES = {
  'model.modelId': 'model',
  'model.provider': 'model',
  'model.connectionId': 'model',
} as const;

/** Reads a number input: null for an empty one. The server refuses anything that is not a number. */
export function numberOrNull(text: unknown): number | null {
  return text === '' || text === null || text === undefined ? null : Number(text);
}

/** Reads a JSON object; undefined for any other text. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseExact(text);
    return isRecord(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

export function textOrNull(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}
