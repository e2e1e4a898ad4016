import {
  Client,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ListToolsResult,
  type PriorDiscovery,
} from '@modelcontextprotocol/client';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { shownText } from '#lib/text.ts';
import type { ToolDefinition } from './definition.ts';
import { ToolServerError } from './error.ts';
import { createServerFetch } from './server-fetch.ts';
import type { ServerInfo, ToolServer } from './server.ts';
import { createSessionLife, RESUME_ATTEMPTS, type CallLimits } from './session-life.ts';

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
    tool: Pick<ToolDefinition, 'name' | 'inputSchema'>,
    args: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<CallToolResult>;
  /** False once an error has ended the session. */
  isAlive(): boolean;
  /** The values that authenticated its requests, in headers or in the query of its address. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

export interface SessionOptions {
  /**
   * The discovery of an earlier session; when the server no longer speaks that protocol, the first request fails at the
   * latest.
   */
  readonly prior?: PriorDiscovery;
  /** Called when the server says that its tools have changed, which it can on the response to a request of ours. */
  readonly onToolsChanged?: () => void;
}

const GOODBYE_MS = 2_000;

/**
 * Connects to a server: in the protocol of 2026-07-28 where it is spoken, else with the handshake of 2025.
 */
export async function openToolSession(
  { outbound }: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> },
  server: ToolServer,
  limits: CallLimits,
  { prior, onToolsChanged }: SessionOptions = {},
): Promise<ToolSession> {
  const life = createSessionLife();
  const { fetch, secrets, watch, exact } = createServerFetch({ outbound, server, signal: life.signal });
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
  if (onToolsChanged !== undefined) {
    client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged);
  }
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
      watch.during(() => client.connect(transport, { ...options, ...(prior === undefined ? {} : { prior }) })),
    );
  } catch (error) {
    await close();
    throw error;
  }
  const hasTools = client.getServerCapabilities()?.tools !== undefined;
  const request = <T>(limits: CallLimits, operation: (options: RequestOptions) => Promise<T>) =>
    life.within(limits, (options) =>
      watch.during(() =>
        operation(options).catch((error: unknown) => {
          throw isForgotten(transport, error) ? new ToolServerError('session_lost') : error;
        }),
      ),
    );
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
      return exact.ofList(
        await request(callLimits, (options) => client.request({ method: 'tools/list', params }, options)),
      );
    },
    async callTool({ name, inputSchema }, args, callLimits) {
      const result = await request(callLimits, (options) =>
        client.callTool(
          { name, arguments: { ...args } },
          // Without the output schema: a pattern in it would be run against the result with no limit on its time;
          // the caller checks the result within one.
          { ...options, toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } } },
        ),
      );
      return exact.ofCall(result);
    },
  };
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/**
 * Tells whether the server refused a request because it no longer knows its session. MCP wants a 404 then, and the
 * reference server answers 400; either way it has not carried the request out.
 */
function isForgotten({ sessionId }: StreamableHTTPClientTransport, error: unknown): boolean {
  if (sessionId === undefined || !SdkHttpError.isInstance(error)) return false;
  return error.status === 404 || error.status === 400;
}

const CLIENT = { name: 'routine-automation-service', version: '1.0.0' };

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

/** Tells which protocol the server has turned out to speak. */
function discoveryOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
}

/** Reads the server's description of itself, cut to what a list can show. */
function serverInfo(client: Client): ServerInfo {
  const claimed = client.getServerVersion();
  return {
    name: shownText(claimed?.name ?? 'unnamed', 200),
    title: claimed?.title === undefined ? null : shownText(claimed.title, 200),
    version: shownText(claimed?.version ?? '', 100),
    protocolVersion: shownText(client.getNegotiatedProtocolVersion() ?? '', 40),
  };
}
