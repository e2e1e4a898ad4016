import type { Shape } from '#ui/api/types.ts';
import { exactMoney } from './numbers.ts';

type Option = Shape<'ModelOption'>;
type Origin = NonNullable<Option['figures']['prices']>;

/** The sources of a model's figures, in words. */
const ORIGINS: Readonly<Record<Origin, string>> = {
  list: 'from its server',
  operator: 'from the operator',
  local: 'your own server',
  learned: 'named by its server',
  by_hand: 'entered by hand',
  catalogue: 'from the catalogue',
};

export function originInWords(origin: Origin | null): string | undefined {
  return origin === null ? undefined : ORIGINS[origin];
}

/** Writes the price of a million tokens in words. */
export function pricesInWords({ prices }: Pick<Option, 'prices'>, short = false): string {
  if (prices === null) return short ? 'no prices' : 'The prices of this model are not known';
  if (Number(prices.input) === 0 && Number(prices.output) === 0) {
    return short ? 'free' : 'This model costs nothing';
  }
  const input = exactMoney(String(Number(prices.input) * 1_000_000));
  const output = exactMoney(String(Number(prices.output) * 1_000_000));
  return short ? `${input} in, ${output} out` : `${input} in and ${output} out for a million tokens`;
}

/** Converts a price a token, as a decimal text, into a price a million tokens without losing a digit. */
export function perMillion(price: string): string {
  return moved(price, 6);
}

/** Converts a price a million tokens into a price a token. Other texts stay, so that the server refuses them. */
export function perToken(price: string): string {
  const typed = price.trim().replace(/^\$\s*/, '');
  return moved(typed, -6);
}

/** Moves the point of a decimal text by `places` to the right. */
function moved(text: string, places: number): string {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return text;
  const digits = `${'0'.repeat(Math.max(-places, 0))}${whole}${fraction}${'0'.repeat(Math.max(places, 0))}`;
  const at = Math.max(-places, 0) + whole.length + places;
  const before = digits.slice(0, at).replace(/^0+(?=\d)/, '');
  const after = digits.slice(at).replace(/0+$/, '');
  return after === '' ? before : `${before}.${after}`;
}
