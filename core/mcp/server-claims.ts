import type { Client, PriorDiscovery } from '@modelcontextprotocol/client';
import { shownText } from '#lib/text.ts';
import type { ServerInfo } from './server.ts';

/** Tells which protocol the server has turned out to speak. */
export function discoveryOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
}

/** Reads the server's description of itself, cut to what a list can show. */
export function serverInfo(client: Client): ServerInfo {
  const claimed = client.getServerVersion();
  return {
    name: shownText(claimed?.name ?? 'unnamed', 200),
    title: claimed?.title === undefined ? null : shownText(claimed.title, 200),
    version: shownText(claimed?.version ?? '', 100),
    protocolVersion: shownText(client.getNegotiatedProtocolVersion() ?? '', 40),
  };
}
