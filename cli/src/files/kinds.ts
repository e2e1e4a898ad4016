import { isDeepStrictEqual } from 'node:util';
import { ExactNumber } from 'routine-automation-sdk';
import { CliError, fieldsOf } from '../failure.ts';
import type { Head, HeadedDocument } from './document.ts';
import type { KindName } from './keys.ts';
import { MATERIAL, ROUTINE_HEAD, SKILL_HEAD } from './generated/head-schemas.ts';
import { withDefaults, withoutDefaults, type JsonSchema } from './schema.ts';
import { overlaid, type Settings } from './settings.ts';

interface Kind {
  readonly schema: JsonSchema;
  /** The least and the greatest length of the text below the head, in characters. */
  readonly text: { readonly min: number; readonly max: number };
  /** Path from the file to the schema for editors. */
  readonly schemaPath: string;
  readonly fileOf: (key: string) => string;
}

export const KINDS: Readonly<Record<KindName, Kind>> = {
  skill: {
    schema: SKILL_HEAD,
    text: { min: 20, max: 24_000 },
    schemaPath: '../../.ras/skill.schema.json',
    fileOf: (key) => `skills/${key}/SKILL.md`,
  },
  routine: {
    schema: ROUTINE_HEAD,
    text: { min: 1, max: 100_000 },
    schemaPath: '../.ras/routine.schema.json',
    fileOf: (key) => `routines/${key}.md`,
  },
};

/** A routine or skill as read from its file. */
export interface LocalItem {
  readonly kind: KindName;
  readonly key: string;
  /** Path from the folder of `ras.yaml`. */
  readonly file: string;
  readonly document: HeadedDocument;
  /** Faulty fields, which are left out of the check by the service. */
  readonly faulty: ReadonlySet<string>;
}

/** All fields that people set, under their API names and as the service stores them, including `instructions`. */
export type Content = Readonly<Record<string, unknown>>;

/** Fills in the defaults of a file. */
export function contentOf(item: LocalItem, settings: Settings): Content {
  const { kind, document, faulty } = item;
  const sound = Object.entries(headWith(item, settings)).filter(([name]) => !faulty.has(name));
  const content = fieldsOf(withDefaults(KINDS[kind].schema, Object.fromEntries(sound)));
  return stored({ ...content, instructions: document.body });
}

/** Merges `ras.yaml` into the head of a file: the head overrides the defaults, the environment overrides the head. */
export function headWith({ kind, key, document }: Omit<LocalItem, 'faulty'>, settings: Settings): Head {
  if (kind === 'skill') return document.head;
  return overlaid({ ...settings.defaults, ...document.head }, key, settings);
}

/** Picks the content fields of a routine or skill as the API returned it. */
export function contentOfRemote(kind: KindName, remote: object, keyOfSkill: (reference: string) => string): Content {
  const all = fieldsOf(remote);
  const names = [...Object.keys(KINDS[kind].schema.properties ?? {}), 'instructions'];
  const content = Object.fromEntries(names.map((name) => [name, all[name]]));
  const { skills } = content;
  if (holdsLongNumber(content)) {
    throw new CliError(
      `The ${kind} "${String(all['name'])}" has a number of more than 15 digits, which no file holds.`,
      {
        hint: 'Send it as text: change the arguments of its gate in the dashboard or by the API.',
      },
    );
  }
  return stored(
    Array.isArray(skills) ? { ...content, skills: skills.map((each) => keyOfSkill(String(each))) } : content,
  );
}

function holdsLongNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(holdsLongNumber);
}

/** Returns the head of a content without default values. */
export function headOf(kind: KindName, content: Content, { defaults }: Pick<Settings, 'defaults'>): Head {
  const { schema } = KINDS[kind];
  const { instructions: _text, ...head } = content;
  if (kind === 'skill') {
    return Object.fromEntries(Object.entries(head).filter(([, value]) => value != null));
  }
  // A value that equals `ras.yaml`'s is left out. A different value is written, even if it is the API's default.
  const usual = stored(fieldsOf(withDefaults({ ...schema, required: [] }, defaults)));
  const isLeftOut = (name: string) => isDeepStrictEqual(head[name], usual[name]);
  const said = Object.keys(head).filter((name) => !isLeftOut(name));
  const bare = (name: string) => withoutDefaults(schema, head[name], schema.properties?.[name]);
  return Object.fromEntries(said.map((name) => [name, bare(name)]));
}

/** Lists the fields in which two contents differ. The order of a schema's keys counts, because the model sees it. */
export function differingFields(before: Content, after: Content): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) =>
    name === 'resultSchema'
      ? JSON.stringify(before[name]) !== JSON.stringify(after[name])
      : !isDeepStrictEqual(before[name] ?? null, after[name] ?? null),
  );
}

/** Tells whether a change of this field returns a routine to draft. */
export function isMaterial(kind: KindName, field: string): boolean {
  return kind === 'routine' && MATERIAL.includes(field);
}

/** Normalizes values as the service does, so that two values with the same meaning are equal. */
function stored(content: Content): Content {
  const { name, description, startsAt, endsAt, skipDates, budget } = content;
  const cost = fieldsOf(budget)['maxCostUsdPerMonth'];
  return {
    ...content,
    ...(typeof name === 'string' && { name: name.trim() }),
    ...(typeof description === 'string' && { description: description.trim() }),
    ...(typeof startsAt === 'string' && { startsAt: new Date(startsAt).toISOString() }),
    ...(typeof endsAt === 'string' && { endsAt: new Date(endsAt).toISOString() }),
    ...(Array.isArray(skipDates) && { skipDates: skipDates.map(String).toSorted() }),
    ...(typeof cost === 'string' && {
      budget: { ...fieldsOf(budget), maxCostUsdPerMonth: cost.replace(ZEROS, '') },
    }),
  };
}

/** Zeros of a decimal number that do not change its value. */
const ZEROS = /^0+(?=\d)|\.0+$|(?<=\.\d*[1-9])0+$/g;
