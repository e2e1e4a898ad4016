import { isIP } from 'node:net';
import { isPermittedAddress } from './addresses.ts';
import { OutboundError } from './errors.ts';

/**
 * Makes the checks that need no network, when a URL is saved and again before every request: parses
 * the URL and returns it, or throws `OutboundError` with `blocked_url` or `blocked_address`.
 */
export function checkedUrl(input: string | URL, allowPrivateNetwork: boolean): URL {
  const text = String(input);
  if (text.length > MAX_URL_LENGTH) {
    throw new OutboundError('blocked_url', `a URL may have at most ${MAX_URL_LENGTH} characters`);
  }
  // The parser silently drops or changes these characters, so the called address would not be the address that a person
  // reads.
  if (/[\s\\\p{Cc}]/u.test(text)) {
    throw new OutboundError('blocked_url', 'a URL may not contain spaces, backslashes or controls');
  }
  const url = URL.parse(text);
  if (url === null) throw new OutboundError('blocked_url', 'the URL cannot be parsed');

  const fault = schemeFault(url, allowPrivateNetwork) ?? hostFault(url, allowPrivateNetwork);
  if (fault !== undefined) throw new OutboundError('blocked_url', fault, { host: url.host });
  const literal = ipLiteral(url.hostname);
  if (literal !== undefined && !isPermittedAddress(literal, allowPrivateNetwork)) {
    throw new OutboundError('blocked_address', 'the address is not public', { host: url.host });
  }
  return url;
}

const MAX_URL_LENGTH = 2048;

function schemeFault(url: URL, allowPrivateNetwork: boolean): string | undefined {
  const isAllowed = url.protocol === 'https:' || (allowPrivateNetwork && url.protocol === 'http:');
  if (!isAllowed) return 'only https URLs are allowed';
  if (url.username !== '' || url.password !== '') return 'a URL may not contain credentials';
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) return 'the port belongs to another protocol';
  return undefined;
}

function hostFault(url: URL, allowPrivateNetwork: boolean): string | undefined {
  const { hostname } = url;
  // Refuse a trailing dot: the host would have another name for certificates, cookies and comparisons.
  if (hostname.endsWith('.')) return 'the host may not end with a dot';
  if (allowPrivateNetwork || ipLiteral(hostname) !== undefined) return undefined;
  const labels = hostname.split('.');
  if (labels.length < 2) return 'the host is not a public name';
  return LOCAL_SUFFIXES.has(labels.at(-1) ?? '') ? 'the host is not a public name' : undefined;
}

/**
 * Returns the address of a host that is an IP literal. `URL` has already turned every spelling of an IPv4 address into
 * four decimal numbers.
 */
function ipLiteral(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Top-level names that are reserved (RFC 6761, 6762, 8375, 9476), or used inside networks by custom. */
const LOCAL_SUFFIXES: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
  'test',
]);

/**
 * Ports of other protocols, so that no user makes the service speak to a mail or database server. The list is that of
 * https://fetch.spec.whatwg.org/#port-blocking. `fetch` applies it when connecting; this check applies it when saving.
 */
// prettier-ignore
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
