import type { Shape } from '#ui/api/types.ts';
import { isNumber } from './exact-number.ts';
import { valueIn, type TypedTable, type TypedView } from './typed-data.ts';

/** Writes the first table of data as CSV (RFC 4180); data without a table is one row of its values. */
export function csvOf({ facts, tables: [table] }: TypedView): string {
  if (table === undefined) {
    return written([facts.map(({ name, title }) => name || title), facts.map(({ value }) => value)]);
  }
  return written([headOf(table), ...bodyOf(table)]);
}

/** Writes a series as CSV: a row for each item, a column for each run. */
export function seriesCsvOf({ runs, items, field }: Shape<'Series'>): string {
  return written([[field ?? '', ...runs.map(({ at }) => at)], ...items.map(({ key, values }) => [key, ...values])]);
}

function headOf({ fields }: TypedTable): readonly string[] {
  return fields.map(({ name, title }) => name || title);
}

function bodyOf({ fields, rows }: TypedTable): readonly (readonly unknown[])[] {
  return rows.filter(({ mark }) => mark !== 'removed').map(({ item }) => fields.map(({ name }) => valueIn(item, name)));
}

/** Adds the byte order mark by which spreadsheets recognize UTF-8, and ends lines as RFC 4180 says. */
function written(rows: readonly (readonly unknown[])[]): string {
  return `\uFEFF${rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')}`;
}

/** Characters that a spreadsheet reads as the beginning of a formula, with their wide forms. */
const FORMULA = /^[\s\uFEFF]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (isNumber(value) || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Names a file by a routine and the time of its run, in the reader's zone: "weekly-audit-2026-11-23-0700.md". */
export function fileNameOf(routine: string, at: Date, extension: string): string {
  const name = routine
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const short = Array.from(name).slice(0, 80).join('') || 'result';
  return `${short}-${day}-${two(at.getHours())}${two(at.getMinutes())}.${extension}`;
}
