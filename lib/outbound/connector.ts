import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import { isPermittedAddress } from './addresses.ts';
import { connectFault, OutboundError } from './errors.ts';
import { withoutInterim } from './interim.ts';

interface ConnectorOptions {
  allowPrivateNetwork: boolean;
  lookup: Lookup;
  connectTimeoutMs: number;
  /** PEM certificates that are trusted instead of the usual authorities. */
  ca?: string;
}

/**
 * Opens connections to permitted addresses only. A name is resolved once, here, and the socket gets exactly the
 * addresses that were checked, so a DNS response that changes afterwards has no effect. Host header and TLS server name
 * keep the name. A pooled connection needs no second check: pools are kept per origin, the address of an open socket
 * cannot change, and a new socket is checked here again.
 */
export function createGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    autoSelectFamily: true,
    // Time before the next address is tried. Node's default of 250 ms gives up on every address of a distant host.
    autoSelectFamilyAttemptTimeout: 2_000,
    rejectUnauthorized: true,
    timeout: options.connectTimeoutMs,
    lookup: createCheckedLookup(options),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    const { hostname, host = hostname, protocol } = target;
    // Check IP literals here, because the lookup hook is not called for them.
    if (isIP(hostname) !== 0 && !isPermittedAddress(hostname, options.allowPrivateNetwork)) {
      queueMicrotask(() => callback(notPublic(host), null));
      return;
    }
    connect(target, (error, socket) => {
      if (error === null) callback(null, withoutInterim(socket));
      else callback(connectFault(error, host, protocol === 'https:'), null);
    });
  };
}

function createCheckedLookup(options: ConnectorOptions): LookupFunction {
  const resolve = callbackify((hostname: string) => resolveChecked(hostname, options));
  return (hostname, { all }, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error) callback(error, '');
      else if (all === true) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

interface Resolved {
  address: string;
  family: number;
}

async function resolveChecked(
  hostname: string,
  { lookup, allowPrivateNetwork }: ConnectorOptions,
): Promise<[Resolved, ...Resolved[]]> {
  const addresses = await lookupAll(hostname, lookup);
  // Refuse a host if one of its addresses is forbidden. No honest host has both forbidden and allowed addresses: such a
  // mix is a sign of a rebinding attempt, and a connection to an allowed address would hide the attempt.
  if (!addresses.every((address) => isPermittedAddress(address, allowPrivateNetwork))) {
    throw notPublic(hostname);
  }
  const [first, ...rest] = addresses.map((address) => ({ address, family: isIP(address) }));
  if (first === undefined) throw dnsFailure(hostname, undefined);
  return [first, ...rest];
}

async function lookupAll(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    return await lookup(hostname);
  } catch (error) {
    throw dnsFailure(hostname, error);
  }
}

/**
 * Makes the error for a host that is not public. The message leaves the address out, because outsiders must not learn
 * the addresses of an internal zone.
 */
function notPublic(host: string): OutboundError {
  return new OutboundError('blocked_address', 'the host has an address that is not public', { host });
}

function dnsFailure(host: string, error: unknown): OutboundError {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  const reason = isCoded ? ` (${String(error.code)})` : '';
  return new OutboundError('dns_failure', `the host has no address${reason}`, { host });
}

/** Resolves a host name to all its addresses. A name without an address rejects, or resolves to an empty list. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/**
 * Asks the DNS servers directly. The operating system's resolver blocks one of the process's four pool threads while a
 * server is silent, so a few silent servers would stall every file and DNS operation; it also tries the search domains
 * and the hosts file, which name only private hosts.
 */
export function createPublicLookup(servers?: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    // Most hosts have addresses of one family only, and the query for the other family finds no data. If both queries
    // fail, the error of the A query says more.
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/**
 * Asks the operating system's resolver, for local use: it also finds `localhost`, the hosts file's names and
 * containers.
 */
export async function systemLookup(hostname: string): Promise<readonly string[]> {
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address }) => address);
}
