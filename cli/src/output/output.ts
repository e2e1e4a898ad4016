import type { Sink, World } from '../world.ts';
import { plain, plainJson, plainLine } from './plain.ts';
import { renderTable, type Column } from './table.ts';

export type { Column } from './table.ts';

/** Writes data to stdout. */
export interface Output {
  /** For people a table, with long cells cut to the width of the terminal; otherwise a JSON array. */
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void;
  /** For people a line for each field with a value; otherwise JSON. */
  record(value: unknown, fields: Readonly<Record<string, Cell>>): void;
  /** Always JSON. */
  json(value: unknown): void;
  /** JSON in one line, for a stream of values. */
  jsonLine(value: unknown): void;
  /** Always text, without control characters. */
  text(text: string): void;
  /** As `text`, without the end of a line. */
  part(text: string): void;
}

export type Cell = string | number | null | undefined;

export function createOutput({ stdout, env }: World, isTerminal: () => boolean): Output {
  const write = (text: string) => void stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  const json = (value: unknown) => write(plainJson(value));
  return {
    json,
    jsonLine: (value) => write(plainJson(value, 0)),
    text: (text) => write(plain(text)),
    part: (text) => void stdout.write(plain(text)),
    table(rows, columns) {
      if (!isTerminal()) return json(rows);
      const style = { width: stdout.columns || undefined, bold: hasColor(stdout, env) };
      if (rows.length > 0) write(renderTable(rows, columns, style));
    },
    record(value, fields) {
      if (!isTerminal()) return json(value);
      const shown = Object.entries(fields).filter(([, cell]) => cell != null && cell !== '');
      const width = Math.max(0, ...shown.map(([name]) => name.length));
      for (const [name, cell] of shown) write(`${name.padEnd(width)}  ${plainLine(String(cell))}`);
    },
  };
}

/** Tells whether a stream shows colours (https://no-color.org). */
export function hasColor(stream: Sink, env: World['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
