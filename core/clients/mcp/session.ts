import {
  Client,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type PriorDiscovery,
} from '@modelcontextprotocol/client';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { shownText } from '#lib/text.ts';
import type { ToolDefinition } from './definition.ts';
import { ToolServerError, wordsInBody } from './error.ts';
import { isStatusOfLostSession, speaksOfLostSession, wordsOf } from './messages.ts';
import { readPage, type ToolPage } from './read-list.ts';
import { readToolResult, type ToolResult } from './read-result.ts';
import { createServerFetch } from './server-fetch.ts';
import type { ServerInfo, ToolServer } from './server.ts';
import { createSessionLife, RESUME_ATTEMPTS, type CallLimits } from './session-life.ts';

/**
 * A session with one tool server, used by one caller at a time. Each of its errors is a `ToolServerError`, or an
 * `AppError` about credentials.
 */
export interface ToolSession {
  readonly server: ServerInfo;
  /** The protocol of the server, so that the next session can begin without discovery. */
  readonly discovery: PriorDiscovery;
  /** True when the server remembers the session under an id that it gave out, as MCP of 2025 allows. */
  readonly stateful: boolean;
  /** Reads one page of the server's tools from the server, never from a cache. */
  listTools(cursor: string | undefined, limits: CallLimits): Promise<ToolPage>;
  callTool(
    tool: Pick<ToolDefinition, 'name' | 'inputSchema'>,
    args: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<ToolResult>;
  /**
   * Asks whether the server still knows the session. @throws {ToolServerError} `session_lost`, and errors of the
   * request
   */
  ping(limits: CallLimits): Promise<void>;
  /** Tells whether the session can be used: false once an error has ended the session. */
  isAlive(): boolean;
  /** The values that authenticated requests of the session, in headers or in the query of the address. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

export interface SessionOptions {
  /** The discovery of an earlier session. If the server no longer speaks that protocol, the first request fails. */
  readonly prior?: PriorDiscovery;
  /** Called when the server reports in a response that its tools have changed. */
  readonly onToolsChanged?: () => void;
}

const GOODBYE_MS = 2_000;

/** Connects to a server in the protocol of 2026-07-28 or, if the server lacks it, with the handshake of 2025. */
export async function openToolSession(
  { outbound }: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> },
  server: ToolServer,
  limits: CallLimits,
  { prior, onToolsChanged }: SessionOptions = {},
): Promise<ToolSession> {
  const life = createSessionLife();
  const { fetch, held, isUnnamed, secrets, watch } = createServerFetch({ outbound, server, signal: life.signal });
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
          throw lostSession(transport, error) ?? (isUnnamed() ? unnamed(error) : error);
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
      if (!hasTools) return NO_TOOLS;
      const params = cursor === undefined ? {} : { cursor };
      await request(callLimits, (options) => client.request({ method: 'tools/list', params }, options));
      return readPage(held());
    },
    async ping(callLimits) {
      try {
        await request(callLimits, (options) => client.request({ method: 'ping' }, options));
      } catch (error) {
        // A server without this method has answered, so it still knows the session.
        if (!(error instanceof ToolServerError) || error.kind !== 'protocol') throw error;
      }
    },
    async callTool({ name, inputSchema }, args, callLimits) {
      await request(callLimits, (options) =>
        client.callTool(
          { name, arguments: { ...args } },
          // Leave out the output schema: the library would run its patterns against the result without a time limit.
          // The caller checks the result within a time limit.
          { ...options, toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } } },
        ),
      );
      return readToolResult(held());
    },
  };
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

const NO_TOOLS: ToolPage = { tools: [], nextCursor: undefined, ttlMs: Number.POSITIVE_INFINITY };

function lostSession({ sessionId }: StreamableHTTPClientTransport, error: unknown): ToolServerError | undefined {
  if (ProtocolError.isInstance(error)) {
    const words = wordsOf(error);
    const isLost = speaksOfLostSession({ code: error.code, words }, { hasSession: sessionId !== undefined });
    return isLost ? new ToolServerError('session_lost', { serverMessage: words }) : undefined;
  }
  if (sessionId === undefined || !SdkHttpError.isInstance(error) || !isStatusOfLostSession(error.status))
    return undefined;
  return new ToolServerError('session_lost', { serverMessage: wordsInBody(error) });
}

/** Turns the error of a response without an id into one that leaves open whether the request was carried out. */
function unnamed(error: unknown): unknown {
  if (!ProtocolError.isInstance(error)) return error;
  return new ToolServerError('protocol', { isAnswer: false, serverMessage: wordsOf(error) });
}

const CLIENT = { name: 'routine-automation-service', version: '1.0.0' };

const CHECK_TIMEOUT_MS = 15_000;

/** Checks that a tool server responds and accepts the credentials. @throws {ToolServerError} */
export async function checkToolServer(
  deps: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> },
  server: ToolServer,
): Promise<ServerInfo> {
  const { signal } = new AbortController();
  const session = await openToolSession(deps, server, { signal, timeoutMs: CHECK_TIMEOUT_MS });
  await session.close();
  return session.server;
}

function discoveryOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult();
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
}

function serverInfo(client: Client): ServerInfo {
  const claimed = client.getServerVersion();
  return {
    name: shownText(claimed?.name ?? 'unnamed', 200),
    title: claimed?.title === undefined ? null : shownText(claimed.title, 200),
    version: shownText(claimed?.version ?? '', 100),
    protocolVersion: shownText(client.getNegotiatedProtocolVersion() ?? '', 40),
  };
}
