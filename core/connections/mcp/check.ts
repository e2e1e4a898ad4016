import type { Connection, ServerInfo } from '../connection.ts';
import { openToolSession, type ToolServerDeps } from './session.ts';

export const CHECK_TIMEOUT_MS = 15_000;

/** Whether there is a tool server at the connection's address that takes its credentials. @throws {ToolServerFault} */
export async function checkToolServer(
  deps: ToolServerDeps,
  connection: Connection,
  signal: AbortSignal = new AbortController().signal,
): Promise<ServerInfo> {
  const session = await openToolSession(deps, connection, { signal, timeoutMs: CHECK_TIMEOUT_MS });
  await session.close();
  return session.server;
}
