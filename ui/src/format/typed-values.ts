import { count } from './numbers.ts';
import { drawn } from './drawn.ts';
import { ExactNumber, isNumber } from './exact-number.ts';
import { isObject } from './json-pointer.ts';
import { LOCALE } from './locale.ts';
import { date, dateTime } from './times.ts';

export type Shown =
  | { readonly as: 'nothing' }
  | { readonly as: 'text'; readonly text: string }
  | { readonly as: 'time'; readonly at: string; readonly text: string }
  | { readonly as: 'link'; readonly href: string; readonly text: string }
  | { readonly as: 'nested'; readonly text: string; readonly value: object };

const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const decimals = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 20 });
/** The most values of a list that are shown in one line. */
const MAX_IN_LINE = 8;

/** Chooses how a value is shown: instants in the reader's zone, addresses of the web as links, objects folded. */
export function shownOf(value: unknown, format: string | undefined): Shown {
  if (value === null || value === undefined || value === '') return { as: 'nothing' };
  if (typeof value === 'number') return { as: 'text', text: numberText(value) };
  if (value instanceof ExactNumber) return { as: 'text', text: value.source };
  if (typeof value === 'boolean') return { as: 'text', text: value ? 'Yes' : 'No' };
  if (typeof value === 'string') return textShown(value, format);
  if (Array.isArray(value)) {
    const simple = value.length <= MAX_IN_LINE && value.every((each) => !isObject(each));
    if (value.length === 0) return { as: 'nothing' };
    if (simple) return { as: 'text', text: value.map((each) => plainText(each)).join(', ') };
    return { as: 'nested', text: `${count(value.length)} items`, value };
  }
  return { as: 'nested', text: `${count(Object.keys(value).length)} values`, value };
}

function textShown(text: string, format: string | undefined): Shown {
  if (TIME.test(text) && !Number.isNaN(Date.parse(text))) {
    return { as: 'time', at: text, text: dateTime(new Date(text)) };
  }
  // Format a date in UTC, because a date without a time is the same in every zone.
  if (DATE.test(text) && format === 'date' && !Number.isNaN(Date.parse(text))) {
    return { as: 'text', text: date(new Date(text), 'UTC') };
  }
  if (/^https?:\/\/\S+$/i.test(text) && URL.canParse(text)) {
    return { as: 'link', href: text, text: drawn(addressOf(text)) };
  }
  return { as: 'text', text: drawn(text) };
}

/** Shortens an address: without its scheme, `www.` and a lone slash at the end. */
function addressOf(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/^([^/?#]+)\/$/, '$1');
}

/** Returns the text of a value for searching. */
export function plainText(value: unknown): string {
  const shown = shownOf(value, undefined);
  if (shown.as === 'nothing') return '';
  return shown.as === 'nested' ? JSON.stringify(shown.value) : shown.text;
}

function numberText(value: number): string {
  return Number.isFinite(value) ? decimals.format(value) : String(value);
}

const collator = new Intl.Collator(LOCALE, { numeric: true });

/** Compares two values of a column. Missing values come last in either direction. */
export function compareValues(a: unknown, b: unknown, direction: 1 | -1): number {
  const [left, right] = [plainText(a) === '', plainText(b) === ''];
  if (left || right) return Number(left) - Number(right);
  if (isNumber(a) && isNumber(b)) return direction * (Number(a) - Number(b) || collator.compare(String(a), String(b)));
  if (typeof a === 'string' && typeof b === 'string' && TIME.test(a) && TIME.test(b)) {
    return direction * (Date.parse(a) - Date.parse(b));
  }
  return direction * collator.compare(orderText(a), orderText(b));
}

/** Returns the text by which values are ordered: a date's own digits, and not its displayed words. */
function orderText(value: unknown): string {
  return typeof value === 'string' ? value : plainText(value);
}
