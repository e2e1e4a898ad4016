import { itemInWords, valueInWords } from '#core/authoring/outcomes/index.ts';
import type { Result } from '#core/execution/results/index.ts';
import { isJsonObject } from '#lib/json.ts';

/** A line about a difference from the previous result. */
export interface Difference {
  readonly sign: '+' | '-' | '~';
  readonly text: string;
}

/** Returns how a result differs from the one before, in words. All data of a first result counts as added. */
export function changesInWords({ changes, lines }: Result): readonly Difference[] {
  const added = changes?.added.map(itemInWords) ?? lines?.added ?? [];
  const removed = changes?.removed.map(itemInWords) ?? lines?.removed ?? [];
  const changed = changes?.changed ?? [];
  return [
    ...added.map((text) => ({ sign: '+', text }) as const),
    ...removed.map((text) => ({ sign: '-', text }) as const),
    ...changed.map(({ key, before, after }) => {
      return { sign: '~', text: changeInWords(key, before, after) } as const;
    }),
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
