import { lookup, Resolver } from 'node:dns/promises';

/**
 * Resolves a host name to all its addresses; rejects, or resolves to none, when it has no address.
 */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/**
 * Asks the DNS servers directly. The operating system's resolver blocks one of the process's four
 * pool threads for as long as a server keeps it waiting, so a few hosts with silent servers would
 * stall every file and DNS operation; it also tries the search domains and the hosts file, which
 * name only private hosts.
 */
export function createPublicLookup(servers?: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    // Most hosts have only one family; the other answers "no data". The A query's reason is the one
    // to tell.
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/**
 * Asks the operating system's resolver, for local use: it knows `localhost`, the hosts file and
 * container names.
 */
export async function systemLookup(hostname: string): Promise<readonly string[]> {
  const addresses = await lookup(hostname, { all: true });
  return addresses.map(({ address }) => address);
}
