import { join, raw, sql, storableJson, type Sql } from '#lib/database/index.ts';
import type { Column, Setting } from './field.ts';
import { SETTINGS, type RoutineSettings } from './settings.ts';

interface StoredColumn extends Column {
  readonly name: string;
  /** Path of the value inside the settings. */
  readonly path: readonly [field: string, part?: string];
}

const SETTING_COLUMNS: readonly StoredColumn[] = Object.entries<Setting>(SETTINGS).flatMap(
  ([field, { column, parts }]): StoredColumn[] =>
    parts === undefined
      ? [{ name: snakeCase(field), ...column, path: [field] }]
      : Object.entries(parts).map(([part, each]) => ({ name: snakeCase(part), ...each, path: [field, part] })),
);

/** The columns of the settings in `routines`. */
export const settingsForm = {
  /** Names of the columns, in the order of `values`. */
  names: raw(SETTING_COLUMNS.map(({ name }) => name).join(', ')),
  /** Selects the settings of a row, each under its name. */
  columns: raw(Object.entries<Setting>(SETTINGS).map(selected).join(', ')),
  /** The values of the columns `names`, for an `insert`. */
  values: (settings: RoutineSettings): Sql => join(SETTING_COLUMNS.map((column) => valueOf(column, settings))),
  /** Assigns all settings, for an `update`. */
  assignments: (settings: RoutineSettings): Sql =>
    join(SETTING_COLUMNS.map((column) => sql`${raw(column.name)} = ${valueOf(column, settings)}`)),
};

function selected([field, { parts }]: [string, Setting]): string {
  const read = SETTING_COLUMNS.filter(({ path }) => path[0] === field).map(
    ({ path: [, part], name, read: by = name }) => (part === undefined ? by : `'${part}', ${by}`),
  );
  return `${parts === undefined ? read.join() : `jsonb_build_object(${read.join(', ')})`} as "${field}"`;
}

function valueOf(
  { path: [field, part], isJson, isSet, stored = (own) => own }: StoredColumn,
  settings: RoutineSettings,
): Sql {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the path was made of the names of the settings
  const value = (settings as unknown as Readonly<Record<string, unknown>>)[field];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const own = part === undefined ? value : (value as Readonly<Record<string, unknown>>)[part];
  if (isJson === true) return sql`${own === null ? null : storableJson(stored(own))}::jsonb`;
  return sql`${isSet === true && Array.isArray(own) ? own.map(String).toSorted() : own}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
