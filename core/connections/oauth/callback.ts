import { hash } from 'node:crypto';
import { TOOL_SERVER } from '../providers/index.ts';

/**
 * Names the callback of a sign-in. Anybody can run an authorization server for tool servers, and one that is hostile
 * can send a person on to another one to get at a code of theirs. So each issuer has a callback of its own, and a
 * response that comes in at another one ends the sign-in (RFC 9700, section 4.4.2.2). A managed provider has the one
 * under its name.
 */
export function callbackOf(provider: string, issuer: string | undefined): string {
  if (provider !== TOOL_SERVER) return provider;
  return `${TOOL_SERVER}-${hash('sha256', issuer ?? '', 'hex').slice(0, DIGEST_LENGTH)}`;
}

/** Tells whether this names the callback of an authorization server of tool servers. */
export function isIssuerCallback(name: string): boolean {
  return ISSUER_CALLBACK.test(name);
}

/** Hexadecimal digits of the digest: 128 bits, so that nobody finds a second issuer with the same. */
const DIGEST_LENGTH = 32;
const ISSUER_CALLBACK = new RegExp(`^${TOOL_SERVER}-[0-9a-f]{${DIGEST_LENGTH}}$`);

/**
 * Returns the address that a provider sends people back to: fixed by us, and registered there by an operator or a
 * person.
 */
export function redirectUriOf(uiOrigin: string, callback: string): string {
  return `${uiOrigin}/oauth/callback/${callback}`;
}
