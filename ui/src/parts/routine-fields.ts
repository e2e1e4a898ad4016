import { ROUTINE_FIELDS } from '#ui/api/routine-fields.ts';
import type { Shape } from '#ui/api/types.ts';

export type RoutineField = keyof typeof ROUTINE_FIELDS;
type MaterialField = Shape<'RoutineVersionSummary'>['changed'][number];

/** The declaration of a field, or of a part of one, with the properties that the dashboard uses. */
interface Declared {
  readonly label: string;
  readonly help?: string;
  readonly unit?: string;
  readonly placeholder?: string;
  /** The type of a field that one control edits, or the values of a choice. */
  readonly kind?: string | readonly string[];
  readonly choices?: Readonly<Record<string, { readonly label: string; readonly help?: string }>>;
  readonly default?: unknown;
  readonly material?: boolean;
  readonly parts?: Readonly<Record<string, Declared>>;
}

const DECLARED: Readonly<Record<RoutineField, Declared>> = ROUTINE_FIELDS;
const BY_NAME: ReadonlyMap<string, Declared> = new Map(Object.entries(DECLARED));
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns plain texts
const NAMES = Object.keys(DECLARED) as RoutineField[];

/**
 * The groups of the composer, and the fields in them that have their own editor and their own words in the overview.
 */
const PLACED = {
  'What it does': ['name', 'instructions', 'variables', 'overridable', 'skills', 'model'],
  Schedule: ['schedule', 'timezone'],
  Results: ['outcome', 'carryResult', 'facts', 'checks', 'resultSchema', 'resultKey'],
  'Checked before it runs': ['gate'],
  Limits: ['limits', 'budget', 'pauseAfterFailures', 'builtInTools'],
  When: [
    'startsAt',
    'endsAt',
    'skipDates',
    'jitterSeconds',
    'overlap',
    'misfire',
    'limits.maxQueueSeconds',
    'mayPutOffHours',
    'mayComplete',
  ],
  'Asking people': ['mayAsk', 'afterAnswer', 'afterApproval', 'decisionHours'],
  'Who is told': ['resultsTo', 'webhookUrl', 'deliver', 'notifications'],
} as const satisfies Record<string, readonly (RoutineField | 'limits.maxQueueSeconds')[]>;

const placed = new Set<string>(Object.values(PLACED).flat());

/** The fields that are edited and shown by their kind, with the words of their declaration. */
export const OTHER_FIELDS = NAMES.filter((name) => !placed.has(name));

export const GROUPS = { ...PLACED, More: OTHER_FIELDS };

/** Returns the declaration of a field, or of a part of one by its path: `limits.maxSteps`. */
export function declared(path: string): Declared | undefined {
  const [name = '', ...inside] = path.split('.');
  return inside.reduce((at, part) => at?.parts?.[part], BY_NAME.get(name));
}

/** Names a field, or a part of one. */
export function labelOf(path: string): string {
  return declared(path)?.label ?? MODEL_PARTS[path] ?? path.slice(path.lastIndexOf('.') + 1);
}

const MODEL_PARTS: Readonly<Record<string, string>> = {
  'model.provider': 'Provider',
  'model.connectionId': 'Account',
  'model.modelId': 'Model',
};

/** Returns the values of a choice with their words. */
export function choicesOf(path: string) {
  const { kind, choices } = declared(path) ?? {};
  const values = typeof kind === 'string' || kind === undefined ? [] : kind;
  return values.map((value) => ({
    value,
    label: choices?.[value]?.label ?? value,
    description: choices?.[value]?.help,
  }));
}

/** Formats a field as lines, so that its changes can be shown; empty for an empty field. */
export function textOf(field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    return value.map((each: unknown) => (typeof each === 'string' ? each : nameIn(each))).join('\n');
  }
  return Object.entries(value)
    .filter(([, each]) => each !== null)
    .map(([name, each]) => {
      const words = field === 'variables' ? name : partInWords(`${field}.${name}`);
      return `${words}: ${typeof each === 'string' ? each : JSON.stringify(each)}`;
    })
    .join('\n');
}

/** Names a part, with its unit if the name lacks one. */
function partInWords(path: string): string {
  const label = labelOf(path);
  const unit = declared(path)?.unit;
  return unit === undefined || label.toLowerCase().startsWith(unit) ? label : `${label} (${unit})`;
}

function nameIn(value: unknown): string {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : JSON.stringify(value);
}

/** Writes the value of a field in words, outside of a sentence. */
export function valueInWords(field: RoutineField, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'string') return DECLARED[field].choices?.[value]?.label ?? (value || 'None');
  const { unit } = DECLARED[field];
  if (typeof value === 'number' && unit !== undefined) return `${value} ${value === 1 ? unit.replace(/s$/, '') : unit}`;
  return textOf(field, value) || 'None';
}

export function isDefault(field: RoutineField, value: unknown): boolean {
  return JSON.stringify(value ?? null) === JSON.stringify(DECLARED[field].default ?? null);
}

const material = NAMES.filter((name) => DECLARED[name].material).map((name) => {
  const { label } = DECLARED[name];
  return [name, label.charAt(0).toLowerCase() + label.slice(1)];
});

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
  return Object.entries(MATERIAL_FIELDS).flatMap(([field, label]) => (fields.includes(field) ? [label] : []));
}
