import type { Shape } from '#ui/api/types.ts';
import { isNumber } from './exact-number.ts';
import { dateTime } from './times.ts';
import { idOf } from './typed-data.ts';

type Series = Shape<'Series'>;
export type SeriesItem = Series['items'][number];

/** Returns the values of an item for a chart, as precisely as a number of the browser allows. */
export function valuesOf({ values }: SeriesItem): readonly (number | null)[] {
  return values.map((value) => (isNumber(value) ? Number(String(value)) : null));
}

/** Finds the item of a key; `1` and `"1"` are different. */
export function itemOf({ items }: Series, key: unknown): SeriesItem | undefined {
  return items.find((item) => idOf(item.key) === idOf(key));
}

/** Returns the values of an item with their runs, oldest first. */
export function pointsOf({ runs }: Series, item: SeriesItem) {
  const values = valuesOf(item);
  return runs.map(({ runId, at }, index) => ({
    key: runId,
    at: new Date(at),
    label: dateTime(new Date(at)),
    value: values[index] ?? null,
  }));
}

/** Names an item by its key; data without a key counts as one item. */
export function titleOfItem({ key }: Pick<SeriesItem, 'key'>): string {
  return key === null ? 'The whole' : String(key);
}
