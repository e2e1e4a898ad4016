/** Writes rows of any table, for the verbs of `given.ts`. Columns are named as in the code. */
import { empty, join, raw, sql, type Db, type Sql } from '#lib/database/index.ts';

type Value = string | number | boolean | Date | null | Sql | readonly string[];

/** Values of columns. */
export type Values<Name extends string> = Readonly<Partial<Record<Name, Value>>>;

/** Values of columns. A function gets its column, and makes of it a new value or a condition. */
export type Fields<Name extends string> = Readonly<Partial<Record<Name, Value | ((column: Sql) => Sql)>>>;

/** Selects rows: by their ids, or by the values of columns. */
export type Which<Name extends string> = string | readonly string[] | Fields<Name>;

const MAY_BE_NONE = Symbol('there may be none');

/** Selects all rows of a table, which may be empty. */
export const EVERY: object = { [MAY_BE_NONE]: true };

/** Selects rows by columns, and allows that there are none. */
export function ifAny<Columns extends object>(columns: Columns): Columns {
  return { ...columns, [MAY_BE_NONE]: true };
}

/** Returns a time before now on the database's clock: `ago('2 days')`. */
export function ago(interval: string): Sql {
  return sql`now() - ${interval}::interval`;
}

/** Returns a time after now on the database's clock. */
export function ahead(interval: string): Sql {
  return sql`now() + ${interval}::interval`;
}

/** Moves a stored time back by an interval, or ahead by a negative one. */
export function earlier(interval: string): (column: Sql) => Sql {
  return (column) => sql`${column} - ${interval}::interval`;
}

/** Moves the times of a renewal's stored refusals back. */
export function refusedEarlier(interval: string): (column: Sql) => Sql {
  const moved = (column: Sql, name: string) => sql`(${column} ->> ${name})::timestamptz - ${interval}::interval`;
  return (column) =>
    sql`${column} || jsonb_build_object('since', ${moved(column, 'since')}, 'last', ${moved(column, 'last')})`;
}

/** Adds to a stored number. */
export function increasedBy(count: number): (column: Sql) => Sql {
  return (column) => sql`${column} + ${count}`;
}

/**
 * Makes a function that sets columns of rows. It throws if a selected row does not exist.
 * @param inDefinition the place in `definition` of each field that has no column of its own
 */
export function changer<Name extends string>(
  table: string,
  inDefinition?: Readonly<Partial<Record<Name, readonly [string, ...string[]]>>>,
) {
  return async (db: Db, which: Which<Name>, fields: Fields<Name>): Promise<void> => {
    let definition: Sql | undefined;
    const set = Object.entries<Fields<Name>[Name]>(fields).flatMap(([name, value]) => {
      const column = columnOf(name);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets the names
      const path = inDefinition?.[name as Name];
      if (path === undefined) {
        return [sql`${column} = ${typeof value === 'function' ? value(column) : value}`];
      }
      const json = JSON.stringify(value);
      definition = sql`jsonb_set(${definition ?? raw('definition')}, ${path}::text[], ${json}::jsonb)`;
      return [];
    });
    if (definition !== undefined) set.push(sql`definition = ${definition}`);
    const changed = await db.run`update ${raw(table)} set ${join(set)} where ${chosen(which)}`;
    checkCount(table, which, changed);
  };
}

/** Makes a function that deletes rows. It throws if a selected row does not exist. */
export function remover<Name extends string = never>(table: string) {
  return async (db: Db, which: Which<Name>): Promise<void> => {
    const removed = await db.run`delete from ${raw(table)} where ${chosen(which)}`;
    checkCount(table, which, removed);
  };
}

/** Inserts the rows that `from` selects, with these values. SQL values may differ from row to row. */
export async function plant(db: Db, table: string, values: Values<string>, from: Sql = empty): Promise<void> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const columns = join(given.map(([name]) => columnOf(name)));
  const planted =
    await db.run`insert into ${raw(table)} (${columns}) select ${join(given.map(([, value]) => value))} ${from}`;
  if (planted === 0) throw new Error(`no row of ${table} was planted`);
}

function chosen<Name extends string>(which: Which<Name>): Sql {
  if (typeof which === 'string' || isIds(which)) return sql`id = any(${[which].flat()})`;
  const conditions = Object.entries<Fields<Name>[Name]>(which).map(([name, value]) => {
    const column = columnOf(name);
    if (typeof value === 'function') return value(column);
    if (value === null) return sql`${column} is null`;
    return isIds(value) ? sql`${column} = any(${value})` : sql`${column} = ${value}`;
  });
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ');
}

function checkCount(table: string, which: Which<string>, count: number): void {
  const isRight =
    typeof which === 'string' || isIds(which)
      ? count === new Set([which].flat()).size
      : count > 0 || MAY_BE_NONE in which;
  if (!isRight) throw new Error(`${count} rows of ${table} were written`);
}

function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function columnOf(name: string): Sql {
  return raw(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}
