import { LOCALE } from './locale.ts';

const whole = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 0 });

/** Formats a number: 12,345. */
export function count(value: number): string {
  return whole.format(value);
}

/** Shortens a number: 12.3K. */
export function shortCount(value: number): string {
  return compact.format(value);
}

/** Formats a share from 0 to 1: 42%. */
export function share(value: number): string {
  return percent.format(value);
}

/** Counts in words: "1 run", "2 runs". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const USD = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
const cents = new Intl.NumberFormat(LOCALE, USD);
const twoDigits = new Intl.NumberFormat(LOCALE, { ...USD, minimumSignificantDigits: 2, maximumSignificantDigits: 2 });

/** Formats a sum to the cent, and a sum below one cent as "< $0.01". Null is "unknown", which is not zero. */
export function money(amount: string | number | null): string {
  if (amount === null) return 'unknown';
  return inPlaces(Number(amount), cents, 0.01);
}

/** Formats a sum beside its limit, in the digits of the limit: "< $0.01" beside "$0.05". */
export function moneyBeside(amount: string | number, limit: string | number): string {
  const parts = exactFormat(Number(limit)).formatToParts(Number(limit));
  const places = parts.find(({ type }) => type === 'fraction')?.value.length ?? 0;
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  return inPlaces(Number(amount), new Intl.NumberFormat(LOCALE, { ...USD, ...digits }), 10 ** -places);
}

function inPlaces(value: number, format: Intl.NumberFormat, least: number): string {
  return value > 0 && value < least ? `< ${format.format(least)}` : format.format(value);
}

/** Formats a sum for a sentence: "less than $0.01". */
export function moneyInWords(amount: string | number | null): string {
  return money(amount).replace('<', 'less than');
}

/** Formats a price or a limit: usually in cents, with more digits for small ones. */
export function exactMoney(amount: string | number | null): string {
  if (amount === null) return 'unknown';
  return exactFormat(Number(amount)).format(Number(amount));
}

function exactFormat(value: number): Intl.NumberFormat {
  const isWholeCents = Math.abs(value * 100 - Math.round(value * 100)) < 1e-9;
  return Math.abs(value) < 0.1 && !isWholeCents ? twoDigits : cents;
}
