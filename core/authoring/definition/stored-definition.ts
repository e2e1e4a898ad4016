import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { sql, storableJson, type Sql } from '#lib/database/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { DEFINITION } from './definition.ts';
import { looseOf, shortFields, type Field, type Fields, type ValuesOf } from './field.ts';

/** Reads and writes the columns `definition` of `routines` and `routine_versions` for one set of fields. */
export interface DefinitionForm<V> {
  readonly names: readonly (keyof V & string)[];
  /** Returns only the fields of the definition from a routine or a version. */
  pick(value: V): V;
  /** Renders fields as lines of the briefing. */
  told(value: V): string[];
  /** Writes a definition as JSON, without other fields of the value. */
  write(value: V): string;
  /**
   * Reads a stored definition. A field that is newer than the stored text takes its default. A field that this release
   * cannot read takes its default too, and `blocked` names it.
   */
  read(stored: unknown): StoredDefinition<V>;
  differences(before: V, after: V): (keyof V & string)[];
  /** Returns an SQL expression that lists the changed fields between the stored definitions of two rows. */
  differencesInSql(before: Sql, after: Sql): Sql;
}

export interface StoredDefinition<V> {
  readonly value: V;
  /** Name of a field that this release cannot read; null if it can read all fields. */
  readonly blocked: string | null;
}

/** Makes the functions that store and read a set of fields. */
export function storedForm<T extends Fields>(fields: T): DefinitionForm<ValuesOf<T>> {
  type V = ValuesOf<T>;
  type Name = keyof V & string;
  const all = Object.entries<Field>(fields);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
  const names = Object.keys(fields) as Name[];
  const shape = Object.fromEntries(all.map(([name, field]) => [name, storedSchema(field)]));
  const stored = z.strictObject(shape);
  const blanks = new Map(
    all.map(([name, { schema, blank }]) => [name, blank === undefined ? schema.parse(undefined) : blank]),
  );
  const asText = new Set(all.flatMap(([name, field]) => (field.storedAsText ? [name] : [])));
  const inText = (name: string, value: unknown) => (asText.has(name) && value !== null ? JSON.stringify(value) : value);
  const toJson = (values: readonly (readonly [string, unknown])[]) =>
    storableJson(
      Object.fromEntries(values.flatMap(([name, each]) => (name in shape ? [[name, inText(name, each)]] : []))),
    );
  // Leave out a newer field that has its default, so that an earlier release can read the routine.
  const isNeeded = (name: string, value: unknown) =>
    fields[name]?.since === '0.1.0' || !isDeepStrictEqual(value, blanks.get(name));
  const defaults = toJson([...blanks]);
  return {
    names,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which fields there are
    pick: (value) => Object.fromEntries(names.map((name) => [name, value[name]])) as V,
    told: (value) =>
      all.flatMap(([name, { label, told }]) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name of a field of V
        const words = told?.(value[name as Name]);
        return words === undefined ? [] : [`${label}: ${words}`];
      }),
    write: (value) => toJson(Object.entries(value).filter(([name, each]) => isNeeded(name, each))),
    read(json) {
      const read = stored.safeParse(json);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema was made of the fields of V
      if (read.success) return { value: read.data as V, blocked: null };
      const found = isJsonObject(json) ? json : {};
      const values = all.map(([name]) => {
        const one = shape[name]?.safeParse(found[name]);
        return [name, one?.success === true ? one.data : blanks.get(name)];
      });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return { value: Object.fromEntries(values) as V, blocked: blockedBy(read.error) };
    },
    differences: (before, after) => names.filter((name) => !isDeepStrictEqual(before[name], after[name])),
    differencesInSql: (before, after) => sql`array(
      select field from unnest(${names}::text[]) with ordinality as fields(field, place)
      where coalesce(${before} -> field, ${defaults}::jsonb -> field)
        is distinct from coalesce(${after} -> field, ${defaults}::jsonb -> field)
      order by place)`,
  };
}

/** The functions for all material fields. */
export const definitionForm = storedForm(DEFINITION);

/** Names of all material parts of a routine, as a comparison of two versions lists them. */
export const VERSION_FIELDS = [...definitionForm.names, 'tools'] as const;
export type VersionField = (typeof VERSION_FIELDS)[number];

const short = shortFields(DEFINITION);
export type ShortDefinition = ValuesOf<typeof short>;

/** The functions for the fields that lists of routines show, without long texts. */
export const shortForm = storedForm(short);

/** Selects the short definition of a row of `routines`. */
export const shortDefinition = sql`definition - ${definitionForm.names.filter((name) => !(name in short))}::text[]`;

function storedSchema({ schema, storedAsText }: Field): z.ZodType {
  if (storedAsText === undefined) return looseOf(schema);
  return z.preprocess(parsed, looseOf(schema, false)).prefault(schema.parse(undefined));
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function blockedBy({ issues: [issue] }: z.ZodError): string {
  const inner = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...inner].join('.');
  return `blocked: this release cannot read the field \`${path}\` of its definition`;
}
