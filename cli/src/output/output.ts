import type { Sink, World } from '../world.ts';
import { plain, plainJson, plainLine } from './plain.ts';
import { renderTable, type Column } from './table.ts';

export type { Column } from './table.ts';

/** Writes data to stdout. */
export interface Output {
  /** A table for people, whose long cells are cut to the width of the terminal; a JSON array of the rows otherwise. */
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void;
  /** One thing, a line for each named field, for people; the thing as JSON otherwise. Fields without a value are left out. */
  record(value: unknown, fields: Readonly<Record<string, Cell>>): void;
  /** JSON in any case. */
  json(value: unknown): void;
  /** JSON in one line, for what comes one after another. */
  jsonLine(value: unknown): void;
  /** Text in any case, without control characters. */
  text(text: string): void;
}

export type Cell = string | number | null | undefined;

export function createOutput({ stdout, env }: World, isTerminal: () => boolean): Output {
  const write = (text: string) => void stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  const json = (value: unknown) => write(plainJson(value));
  return {
    json,
    jsonLine: (value) => write(plainJson(value, 0)),
    text: (text) => write(plain(text)),
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

/** Tells whether a stream takes colours (https://no-color.org). */
export function hasColor(stream: Sink, env: World['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
