import { sql } from '#lib/database/index.ts';
import { isJsonObject } from '#lib/json.ts';

/**
 * SQL condition on a run `run`: its text is the JSON of its data and nothing else, which programs read and people do
 * not.
 */
export const isOnlyData = sql`(run.data is not null and run.result ~ ${'^\\s*(```(json)?\\s*)?[[{]'})`;

/** Lines of data that a message may have; it is cut where it is rendered. */
const MOST_LINES = 200;

/** Writes data as lines for people: each single value, and each item of a list. */
export function dataInWords(data: unknown): string[] {
  const lines = Array.isArray(data)
    ? data.map(itemInWords)
    : isJsonObject(data)
      ? Object.entries(data).flatMap(([name, value]) =>
          Array.isArray(value) ? value.map(itemInWords) : [`${name}: ${valueInWords(value)}`],
        )
      : data === null || data === undefined
        ? []
        : [valueInWords(data)];
  return lines.slice(0, MOST_LINES);
}

/** Writes an item of a list in a line: `id tea, price 4`. */
export function itemInWords(item: unknown): string {
  if (!isJsonObject(item)) return valueInWords(item);
  return Object.entries(item)
    .map(([name, value]) => `${name} ${valueInWords(value)}`)
    .join(', ');
}

export function valueInWords(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
