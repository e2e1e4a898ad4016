import { InvalidArgumentError, Option } from 'commander';
import type { Pages } from 'routine-automation-sdk';
import type { Context } from './context.ts';

/** Makes the option for the number of items in a list. */
export function limitOption(): Option {
  return new Option('--limit <number>', 'how many at most').default(50).argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 on.');
    return Number(text);
  });
}

/** Reads the wanted number of items, and reports if the list is longer. */
export async function listed<T>(context: Context, pages: Pages<T>, limit: number): Promise<T[]> {
  const items = await pages.toArray({ limit: limit + 1 });
  if (items.length === 0 && context.isForPeople) context.say('There are none.');
  if (items.length <= limit) return items;
  context.say(`These are the first ${limit}; --limit shows more.`);
  return items.slice(0, limit);
}

/** Returns the page size: one more item than is shown, which reveals whether the list is longer. */
export function pageSize(limit: number): number {
  return Math.min(limit + 1, 200);
}
