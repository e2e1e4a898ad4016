import { fieldsOf, usageError } from '../failure.ts';
import type { Sink, World } from '../world.ts';
import { plain, plainJson, plainLine } from './plain.ts';
import { renderTable, type Column } from './table.ts';

export type { Column } from './table.ts';

/** Writes data to stdout. */
export interface Output {
  /** Writes a table for people, with long cells cut to the width of the terminal; otherwise a JSON array. */
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void;
  /** Writes a line for each field with a value, for people; otherwise JSON. */
  record(value: unknown, fields: Readonly<Record<string, Cell>>): void;
  /** Writes JSON, for people too. */
  json(value: unknown): void;
  /** Writes JSON in one line, for a stream of values. */
  jsonLine(value: unknown): void;
  /** Writes text for people and programs, without control characters. */
  text(text: string): void;
  /** Writes as `text` does, without the end of a line. */
  part(text: string): void;
}

export type Cell = string | number | null | undefined;

export function createOutput(
  { stdout, env }: World,
  isForPeople: () => boolean,
  fields: () => readonly string[] | undefined,
): Output {
  const write = (text: string) => void stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  const json = (value: unknown) => write(plainJson(withFields(value, fields())));
  return {
    json,
    jsonLine: (value) => write(plainJson(withFields(value, fields()), 0)),
    text: (text) => write(plain(text)),
    part: (text) => void stdout.write(plain(text)),
    table(rows, columns) {
      if (!isForPeople()) return json(rows);
      const style = { width: stdout.columns || undefined, bold: hasColor(stdout, env) };
      if (rows.length > 0) write(renderTable(rows, columns, style));
    },
    record(value, fields) {
      if (!isForPeople()) return json(value);
      const shown = Object.entries(fields).filter(([, cell]) => cell != null && cell !== '');
      const width = Math.max(0, ...shown.map(([name]) => name.length));
      for (const [name, cell] of shown) write(`${name.padEnd(width)}  ${plainLine(String(cell))}`);
    },
  };
}

/**
 * Takes the named fields of a value, or of each item of a list; `usage.costUsd` is a field of a field.
 * @throws {CliError} for an unknown field; the message names the known ones
 */
function withFields(value: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => withFields(each, names));
  return Object.fromEntries(names.map((name) => [name, fieldAt(value, name.split('.'))]));
}

function fieldAt(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  // A field of null is null, because the parent may be missing.
  if (value === null) return null;
  const fields = fieldsOf(value);
  if (!Object.hasOwn(fields, name)) {
    const known = Object.keys(fields).toSorted().join(', ');
    throw usageError(`There is no field "${name}".`, known === '' ? undefined : `There are: ${known}`);
  }
  return rest.length === 0 ? fields[name] : fieldAt(fields[name], rest);
}

/** Tells whether a stream shows colours (https://no-color.org). */
export function hasColor(stream: Sink, env: World['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
