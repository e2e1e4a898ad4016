import type { OutboundClient } from '#lib/outbound/index.ts';
import type { ServerInfo, ToolServer } from './server.ts';
import { openToolSession } from './session.ts';

const CHECK_TIMEOUT_MS = 15_000;

/** Checks that a tool server is there and takes the credentials. @throws {ToolServerError} */
export async function checkToolServer(
  deps: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> },
  server: ToolServer,
  signal: AbortSignal = new AbortController().signal,
): Promise<ServerInfo> {
  const session = await openToolSession(deps, server, { signal, timeoutMs: CHECK_TIMEOUT_MS });
  await session.close();
  return session.server;
}
