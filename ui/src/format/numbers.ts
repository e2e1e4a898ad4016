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

/**
 * Formats the API's decimal string as money: usually in cents, with more digits for small amounts. Null is "unknown",
 * which is not zero.
 */
export function money(amount: string | number | null, currency = 'USD'): string {
  if (amount === null) return 'unknown';
  const value = Number(amount);
  const isSmall = Math.abs(value) < 0.1 && !isWholeCents(value);
  return moneyFormat(currency, isSmall).format(value);
}

function isWholeCents(value: number): boolean {
  return Math.abs(value * 100 - Math.round(value * 100)) < 1e-9;
}

const moneyFormats = new Map<string, Intl.NumberFormat>();

function moneyFormat(currency: string, isSmall: boolean): Intl.NumberFormat {
  const key = `${currency} ${isSmall}`;
  const format =
    moneyFormats.get(key) ??
    new Intl.NumberFormat(LOCALE, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      ...(isSmall ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : {}),
    });
  moneyFormats.set(key, format);
  return format;
}
