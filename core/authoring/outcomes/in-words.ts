import { sql } from '#lib/database/index.ts';
import { isJsonObject } from '#lib/json.ts';
import type { Changes } from './changes.ts';

/** SQL condition on a run `run`: its text is only the JSON of its data. Such a text is not shown to people. */
export const isOnlyData = sql`(run.data is not null and run.result ~ ${'^\\s*(```(json)?\\s*)?[[{]'})`;

/** The most lines of data that are made for a message. The message itself may be cut further. */
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

/** A line about a difference from the previous result. */
interface Difference {
  readonly sign: '+' | '-' | '~';
  readonly text: string;
}

interface Compared {
  readonly changes: Pick<Changes, 'added' | 'removed' | 'changed'> | null;
  /** Lines of the text, for a result without data. */
  readonly lines: { readonly added: readonly string[]; readonly removed: readonly string[] } | null;
}

/** Describes in words how a result differs from the previous result. All data of a first result counts as added. */
export function changesInWords({ changes, lines }: Compared): readonly Difference[] {
  const added = changes?.added.map(itemInWords) ?? lines?.added ?? [];
  const removed = changes?.removed.map(itemInWords) ?? lines?.removed ?? [];
  const changed = changes?.changed ?? [];
  return [
    ...added.map((text) => ({ sign: '+', text }) as const),
    ...removed.map((text) => ({ sign: '-', text }) as const),
    ...changed.map(({ key, before, after }) => ({ sign: '~', text: changeInWords(key, before, after) }) as const),
  ];
}

function changeInWords(key: unknown, before: unknown, after: unknown): string {
  const name = key === null || key === undefined ? '' : `${valueInWords(key)}: `;
  if (!isJsonObject(before) || !isJsonObject(after)) {
    return `${name}${valueInWords(before)} → ${valueInWords(after)}`;
  }
  const differing = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => `${field} ${valueInWords(before[field])} → ${valueInWords(after[field])}`);
  return `${name}${differing.join(', ')}`;
}

function itemInWords(item: unknown): string {
  if (!isJsonObject(item)) return valueInWords(item);
  return Object.entries(item)
    .map(([name, value]) => `${name} ${valueInWords(value)}`)
    .join(', ');
}

function valueInWords(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
