import { z } from 'zod';

/**
 * An address with https, or with http at the loopback, where the fixture providers listen; the guarded client refuses
 * http in production.
 */
export const providerUrl = z
  .url({ protocol: /^https?$/, abort: true, error: 'expected an https URL' })
  .refine((value) => isSecure(new URL(value)), 'expected an https URL')
  .refine((value) => isPlain(new URL(value)), 'expected no credentials, query or fragment');

/** Path that is appended to the base address. It begins with a slash and cannot lead out of the base. */
export const requestPath = z.string().regex(/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/, 'expected a path such as /models');

/** Path into a response: field names with dots between them, `*` for each item of a list; empty for the whole. */
export const dottedPath = z
  .string()
  .regex(/^([A-Za-z0-9_$-]+|\*)(\.([A-Za-z0-9_$-]+|\*))*$|^$/, 'expected names with dots between');

export const header = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected a header name in lower case')
  .refine((name) => !REFUSED_HEADERS.has(name), 'this header is not for a file to set');

/** Fixed headers of every request. They may neither be a credential nor imitate another product. */
export const safeHeaders = z.record(header, z.string().regex(/^[\x20-\x7e]{1,200}$/));

const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || hostname === '127.0.0.1' || hostname === 'localhost';
}

function isPlain({ username, password, search, hash }: URL): boolean {
  return username === '' && password === '' && search === '' && hash === '';
}
