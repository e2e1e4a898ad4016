import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Accepts only `true` and `false`: `TRUE`, `1` and `yes` are faults, so that no switch is misread. */
export function flag(fallback: boolean) {
  return z
    .enum(['true', 'false'], { error: 'expected true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');
}

export function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
}

export function integer(fallback: number, min: number, max: number) {
  return wholeNumber(min, max).default(fallback);
}

export const httpUrl = z.url({ protocol: /^https?$/, abort: true, error: 'expected an http or https URL' });
export const origin = httpUrl.refine(
  (value) => URL.canParse(value) && new URL(value).origin === value,
  'expected an origin: scheme, host and port, without a path or trailing slash',
);

export const secret = z
  .string({ error: 'required: at least 32 characters' })
  .min(32, 'expected at least 32 characters');

/**
 * Addresses and networks, with commas between them, or the word `none`. The code that uses the text parses it again.
 */
export const networks = z.string().transform((text, context) => {
  if (text === 'none') return [];
  const list = text.split(',').map((part) => part.trim());
  for (const network of list) {
    // Check with Node too: ipaddr.js accepts a bare number as an address.
    const isNetwork = isIP(network.split('/', 1)[0] ?? '') > 0;
    if (!isNetwork || !(ipaddr.isValid(network) || ipaddr.isValidCIDR(network))) {
      context.addIssue('expected addresses or networks like 10.0.0.0/8, with commas between them, or none');
      return z.NEVER;
    }
  }
  return list;
});

/** Names of services that are reached without encryption on a private network, separated by commas. */
export const backends = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(
    z.array(
      z.enum(['postgres', 'temporal', 'gateway'], {
        error: 'expected postgres, temporal and gateway, with commas between them',
      }),
    ),
  );

export const encryptionKey = z
  .string({ error: 'required: base64 of 32 bytes' })
  .refine(
    (value) => /^[A-Za-z0-9+/]{43}=$/.test(value) && Buffer.from(value, 'base64').toString('base64') === value,
    'expected base64 of exactly 32 bytes',
  );

export const nonEmpty = z.string().min(1, 'expected a non-empty value');

export function file(what: string) {
  return z.string({ error: `required: path of a ${what}` }).min(1, 'expected a non-empty value');
}
