import { domainToASCII } from 'node:url';
import { z } from 'zod';

/**
 * Matches an address whose domain is ASCII, with a local part of at most 64 characters (RFC 5321, section 4.5.3.1). It
 * extends zod's own pattern by the top-level domains of other scripts, such as `xn--p1ai`.
 */
export const EMAIL_PATTERN = new RegExp(
  `^(?=.{1,64}@)${z.regexes.email.source.slice(1).replace('[A-Za-z]{2,}$', '(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9-]+)$')}`,
);

/** An e-mail address that mail servers accept. */
export const emailAddress = z
  .string()
  .overwrite(withAsciiDomain)
  .check(z.email({ pattern: EMAIL_PATTERN, error: ({ input }) => faultOf(input) }))
  .max(254);

function faultOf(address: unknown): string {
  const local = typeof address === 'string' ? address.slice(0, address.lastIndexOf('@')) : '';
  return /[^\x20-\x7e]/.test(local)
    ? 'before the @ there can only be letters without accents, digits and some signs: few mail servers take others'
    : 'must be an e-mail address';
}

/**
 * Converts the domain of an e-mail address to its DNS form: `a@exämple.de` becomes `a@xn--exmple-cua.de`. A text
 * without a domain stays unchanged.
 */
export function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  if (at === -1 || /^[\x00-\x7f]*$/.test(domain)) return address;
  const ascii = domainToASCII(domain);
  return ascii === '' ? address : `${address.slice(0, at + 1)}${ascii}`;
}
