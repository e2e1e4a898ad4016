import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ListToolsResult,
  type PriorDiscovery,
} from '@modelcontextprotocol/client';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { ToolServerError } from './error.ts';
import { RESUME_ATTEMPTS } from './response-watch.ts';
import type { ServerInfo, ToolServer } from './server.ts';
import { discoveryOf, serverInfo } from './server-claims.ts';
import { createServerFetch } from './server-fetch.ts';
import { createSessionLife, type CallLimits } from './session-life.ts';

/** A tool as the protocol writes it. */
export type ListedTool = ListToolsResult['tools'][number];

/**
 * A session with one tool server, used by one caller at a time. Everything it throws is a `ToolServerError`, or an
 * `AppError` about credentials.
 */
export interface ToolSession {
  readonly server: ServerInfo;
  /** The protocol that the server speaks: the next session can begin with it, and need not ask. */
  readonly discovery: PriorDiscovery;
  /** The server remembers the session: it gave out an id, as servers of 2025 may. */
  readonly stateful: boolean;
  /** One page of the server's tools as it is now, never from a cache. */
  listTools(cursor: string | undefined, limits: CallLimits): Promise<ListToolsResult>;
  callTool(
    tool: ListedTool,
    args: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<CallToolResult>;
  /** False once an error has ended the session. */
  isAlive(): boolean;
  /** The values that authenticated its requests, in headers or in the query of its address. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

const GOODBYE_MS = 2_000;

/**
 * Connects to a server: in the protocol of 2026-07-28 where it is spoken, else with the handshake of 2025.
 * @param prior the discovery of an earlier session; when the server no longer speaks that protocol, the first request
 * fails at the latest
 */
export async function openToolSession(
  { outbound }: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> },
  server: ToolServer,
  limits: CallLimits,
  prior?: PriorDiscovery,
): Promise<ToolSession> {
  const life = createSessionLife();
  const { fetch, secrets, watch } = createServerFetch({ outbound, server, signal: life.signal });
  const client = new Client(CLIENT, {
    versionNegotiation: { mode: 'auto' },
    inputRequired: { autoFulfill: false },
  });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch,
    reconnectionOptions: {
      maxRetries: RESUME_ATTEMPTS,
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
    },
    reconnectionScheduler: watch.scheduleResume,
  });
  void watch.broken.then(life.end);
  const hangUp = () => void transport.close().catch(() => undefined);
  life.signal.addEventListener('abort', hangUp, { once: true });

  async function close(): Promise<void> {
    const goodbye = life.isOver() ? Promise.resolve() : transport.terminateSession();
    const bored = new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref());
    await Promise.race([goodbye.catch(() => undefined), bored]);
    life.end(new ToolServerError('cancelled'));
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
  }

  try {
    await life.within(limits, (options) =>
      watch.during(() =>
        client.connect(transport, { ...options, ...(prior === undefined ? {} : { prior }) }),
      ),
    );
  } catch (error) {
    await close();
    throw error;
  }
  const hasTools = client.getServerCapabilities()?.tools !== undefined;
  return {
    server: serverInfo(client),
    discovery: discoveryOf(client),
    stateful: transport.sessionId !== undefined,
    isAlive: () => !life.isOver(),
    secrets,
    close,
    async listTools(cursor, callLimits) {
      if (!hasTools) return { tools: [] };
      const params = cursor === undefined ? {} : { cursor };
      return life.within(callLimits, (options) =>
        watch.during(() => client.request({ method: 'tools/list', params }, options)),
      );
    },
    callTool: (tool, args, callLimits) =>
      life.within(callLimits, (options) =>
        watch.during(() =>
          client.callTool(
            { name: tool.name, arguments: { ...args } },
            // Without the output schema: a pattern in it would be run against the result with no limit on its time;
            // whoever calls checks the result within one.
            { ...options, toolDefinition: { ...tool, outputSchema: undefined } },
          ),
        ),
      ),
  };
}

const CLIENT = { name: 'routine-automation-service', version: '1.0.0' };
