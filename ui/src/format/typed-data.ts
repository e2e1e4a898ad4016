import { capitalized } from './capitalized.ts';
import { drawn } from './drawn.ts';
import { isNumber, type ExactNumber } from './exact-number.ts';
import { isRecord, memberOf, memberPointer, tokensOf, valueAt } from './json-pointer.ts';
import { SchemaHints } from './schema-hints.ts';

export interface TypedField {
  /** Name of the field in the data; empty if the value itself is shown. */
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly format: string | undefined;
  readonly isNumber: boolean;
}

export type Mark = 'added' | 'removed' | 'changed' | 'same';

export interface TypedRow {
  readonly id: string;
  /** The key of the item; null without one. */
  readonly key: string | number | ExactNumber | boolean | null;
  readonly item: unknown;
  readonly mark: Mark;
  /** The item before the change. */
  readonly before: unknown;
}

export interface TypedTable {
  readonly title: string;
  readonly fields: readonly TypedField[];
  readonly rows: readonly TypedRow[];
  /** Names of the items' fields that did not fit the table. */
  readonly leftOut: readonly string[];
}

export interface TypedFact extends TypedField {
  readonly value: unknown;
}

/** Data as a reader sees it: single values, and lists as tables. */
export interface TypedView {
  readonly facts: readonly TypedFact[];
  readonly tables: readonly TypedTable[];
}

/** The differences of data by key, in the form in which a run or a comparison has them. */
export interface DataChanges {
  readonly by: { readonly list: string; readonly key: string } | null;
  readonly added: readonly unknown[];
  readonly removed: readonly unknown[];
  readonly changed: readonly {
    readonly key: TypedRow['key'];
    readonly before: unknown;
    readonly after: unknown;
  }[];
}

/** Reads data by its schema, which may be missing or not fit. */
export function typedViewOf(data: unknown, schema: unknown, changes: DataChanges | null): TypedView {
  const hints = new SchemaHints(schema, schema);
  const by = changes?.by ?? null;
  const listed = by === null ? undefined : valueAt(data, by.list);
  const facts: TypedFact[] = [];
  const tables: TypedTable[] = [];
  if (by !== null && Array.isArray(listed)) {
    tables.push(tableOf(tokensOf(by.list).at(-1) ?? '', listed, hints.at(by.list), changes));
  }
  if (Array.isArray(data)) {
    if (tables.length === 0) tables.push(tableOf('', data, hints, null));
  } else if (isRecord(data)) {
    for (const name of namesIn([data], hints)) {
      const value = data[name];
      // Skip the list that the first table already shows.
      if (tables.length > 0 && memberPointer('', name) === by?.list) continue;
      if (isTable(value)) tables.push(tableOf(name, value, hints.member(name), null));
      else if (value !== undefined) facts.push({ ...fieldOf(name, hints.member(name)), value });
    }
  } else {
    facts.push({ ...fieldOf('', hints), value: data });
  }
  return { facts, tables };
}

/** The most columns of a table. Further ones are named below it. */
const MAX_FIELDS = 40;

function tableOf(name: string, items: readonly unknown[], hints: SchemaHints, changes: DataChanges | null): TypedTable {
  const removed = changes?.removed ?? [];
  const all = [...items, ...removed];
  const names = all.some(isRecord) ? namesIn(all, hints.items) : [''];
  const isPlain = names.length === 1 && names[0] === '';
  const fields = names.slice(0, MAX_FIELDS).map((each) => {
    const field = fieldOf(each, isPlain ? hints.items : hints.items.member(each));
    const values = all.flatMap((item) => valueIn(item, each) ?? []);
    const areNumbers = values.length > 0 && values.every(isNumber);
    return { ...field, isNumber: field.isNumber || areNumbers };
  });
  return {
    title: hints.title ?? titleOf(name),
    fields,
    rows: rowsOf(items, changes),
    leftOut: names.slice(MAX_FIELDS).map(drawn),
  };
}

function rowsOf(items: readonly unknown[], changes: DataChanges | null): readonly TypedRow[] {
  const pointer = changes?.by?.key;
  const keyOf = (item: unknown) => {
    const key = pointer === undefined ? null : valueAt(item, pointer);
    return typeof key === 'string' || isNumber(key) || typeof key === 'boolean' ? key : null;
  };
  const added = new Set(changes?.added.map((item) => idOf(keyOf(item))));
  const changed = new Map(changes?.changed.map(({ key, before }) => [idOf(key), before]));
  const row = (item: unknown, index: number, gone: boolean): TypedRow => {
    const key = keyOf(item);
    const id = key === null ? `${gone}:${index}` : `${gone}:${idOf(key)}`;
    const mark = gone
      ? 'removed'
      : key !== null && added.has(idOf(key))
        ? 'added'
        : key !== null && changed.has(idOf(key))
          ? 'changed'
          : 'same';
    return { id, key, item, mark, before: gone ? undefined : changed.get(idOf(key)) };
  };
  return [
    ...items.map((item, index) => row(item, index, false)),
    ...(changes?.removed ?? []).map((item, index) => row(item, index, true)),
  ];
}

/** Names a key, so that `1` and `"1"` differ. */
export function idOf(key: unknown): string {
  return `${typeof key}:${String(key)}`;
}

/** Returns the value of an item in a column. */
export function valueIn(item: unknown, name: string): unknown {
  return name === '' ? item : memberOf(item, name);
}

/** Returns the names of the schema, then further names of the data. */
function namesIn(items: readonly unknown[], hints: SchemaHints): string[] {
  const names = new Set(hints.members);
  for (const item of items) if (isRecord(item)) for (const name of Object.keys(item)) names.add(name);
  return [...names].filter((name) => items.some((item) => memberOf(item, name) !== undefined));
}

/** Returns true for a list with objects in it. */
function isTable(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.some(isRecord);
}

function fieldOf(name: string, hints: SchemaHints): TypedField {
  const { description } = hints;
  return {
    name,
    title: drawn((hints.title ?? titleOf(name)).slice(0, 80)),
    description: description === undefined ? undefined : drawn(description.slice(0, 300)),
    format: hints.format,
    isNumber: hints.isNumber,
  };
}

/** Makes a title of a name: "lastSeen_at" becomes "Last seen at". */
function titleOf(name: string): string {
  if (name === '') return 'Value';
  const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/[_\-.]+/g, ' ');
  return capitalized(words.trim().toLowerCase()) || name;
}
