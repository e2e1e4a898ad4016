import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { isRecord, tokensOf, valueAt } from '#ui/format/json-pointer.ts';
import { isNumber } from '#ui/format/exact-number.ts';
import { plainText } from '#ui/format/typed-values.ts';
import { CELL_GAP, unmarked } from '#ui/format/unmarked.ts';

type Result = Shape<'Result'>;

export type Sign = '+' | '−' | '~';

export interface Difference {
  readonly sign: Sign;
  /** One text, or several cells for a row of a table. */
  readonly cells: readonly string[];
}

/**
 * Returns the differences from the previous result in words; all data of a first result counts as added. Leaves out
 * differences that `said` already contains.
 */
export function differencesOf({ kind, changes, lines }: Result, said: string): readonly Difference[] {
  if (kind === 'failed' || kind === 'unchanged') return [];
  const key = changes?.by?.key;
  const rows = (items: readonly unknown[] | undefined) => items?.map((item) => [itemInWords(item, key)]);
  const all: readonly (readonly [Sign, readonly string[]])[] = [
    ...(rows(changes?.added) ?? lines?.added.map(cellsOf) ?? []).map((cells) => ['+', cells] as const),
    ...(rows(changes?.removed) ?? lines?.removed.map(cellsOf) ?? []).map((cells) => ['−', cells] as const),
    ...(changes?.changed ?? []).map((item) => ['~', [changeInWords(item, key)]] as const),
  ];
  // Compare with the first line of `said`, because only that line is shown beside differences.
  const known = lettersOf(said.split('\n', 1)[0] ?? '');
  return all
    .map(([sign, cells]) => ({ sign, cells }))
    .filter(({ cells }) => {
      const letters = lettersOf(cells.join(''));
      // Leave out lines without letters or digits, which say nothing to a reader.
      return letters !== '' && !known.includes(letters) && !(known.length > SENTENCE && letters.includes(known));
    });
}

/** The shown line must have more letters than this to cover a longer difference: a shorter line may be a heading. */
const SENTENCE = 20;

/** Returns the letters and digits of a text, so that other signs do not count in a comparison. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Splits a line into the cells of a table, each without the marks of Markdown. */
function cellsOf(line: string): readonly string[] {
  return unmarked(line).split(CELL_GAP);
}

/** Writes an item of data in words: "Bookbright Assistant, 12 USD". Leaves the key out if the item has a name. */
function itemInWords(item: unknown, key: string | undefined): string {
  if (!isRecord(item)) return shown(item);
  const name = nameOf(item, key);
  const keyed = key === undefined ? undefined : tokensOf(key)[0];
  const currency = Object.keys(item).find((each) => /^currency$/i.test(each));
  const rest = Object.entries(item)
    .filter(([field, value]) => field !== keyed && field !== currency && isShort(value) && !isSaid(name, value))
    .slice(0, MOST_FIELDS)
    .map(([field, value]) => valueInWords(field, value, currency === undefined ? undefined : item[currency]));
  return [name, ...rest].join(', ');
}

/** The most fields of an item in a line, which has no room for more. */
const MOST_FIELDS = 12;

/** Tells whether the name of an item contains a value, or the value is an address: a line needs neither. */
function isSaid(name: string, value: unknown): boolean {
  return typeof value === 'string' && (lettersOf(name).includes(lettersOf(value)) || URL.canParse(value));
}

/**
 * Returns a value in words. A text needs no label; a number or a choice needs its field, and an amount its currency.
 */
function valueInWords(field: string, value: unknown, currency: unknown): string {
  if (typeof value === 'string') return shown(value);
  if (typeof currency === 'string' && isNumber(value)) return `${shown(value)} ${currency}`;
  return `${wordsOf(field)} ${shown(value)}`;
}

function changeInWords({ key, before, after }: Shape<'ChangedItem'>, pointer: string | undefined): string {
  if (!isRecord(before) || !isRecord(after)) {
    return [key, `${shown(before)} → ${shown(after)}`].filter((part) => part !== null).join(': ');
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .slice(0, MOST_FIELDS)
    .map((name) => `${wordsOf(name)} ${shown(before[name])} → ${shown(after[name])}`);
  return `${key === null ? '' : `${nameOf(after, pointer)}: `}${differing.join(', ')}`;
}

/** Returns the name of an item: its name or title, else its key in words, else its first text. */
function nameOf(item: Readonly<Record<string, unknown>>, key: string | undefined): string {
  const named = Object.entries(item).find(([field, value]) => /^(?:name|title|label)$/i.test(field) && isText(value));
  const keyed = key === undefined ? undefined : valueAt(item, key);
  if (named === undefined && typeof keyed === 'string' && SLUG.test(keyed)) return wordsOfSlug(keyed);
  return shown(named?.[1] ?? keyed ?? Object.values(item).find(isText));
}

/** A key that is made of words: `bookbright/assistant-plus`. */
const SLUG = /^[a-z]{2,}(?:[-_/][a-z0-9]+){1,5}$/;

function wordsOfSlug(slug: string): string {
  return slug.split(/[-_/]/).map(capitalized).join(' ');
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isShort(value: unknown): boolean {
  return value !== null && value !== '' && (typeof value !== 'object' || isNumber(value));
}

/** Returns the words of a field: `unitPrice` and `unit_price` are "unit price". */
function wordsOf(field: string): string {
  return field
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function shown(value: unknown): string {
  return value === undefined || value === null ? 'none' : plainText(value);
}
