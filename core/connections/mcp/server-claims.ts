import type { Client, PriorDiscovery } from '@modelcontextprotocol/client';
import type { ServerInfo } from '../connection.ts';

/** Which protocol the server has turned out to speak. */
export function discoveryOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
}

/** What the server claims to be, cut to what a list can show. */
export function serverInfo(client: Client): ServerInfo {
  const claimed = client.getServerVersion();
  return {
    name: shown(claimed?.name ?? 'unnamed', 200),
    title: claimed?.title === undefined ? null : shown(claimed.title, 200),
    version: shown(claimed?.version ?? '', 100),
    protocolVersion: shown(client.getNegotiatedProtocolVersion() ?? '', 40),
  };
}

function shown(text: string, max: number): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, max);
}
