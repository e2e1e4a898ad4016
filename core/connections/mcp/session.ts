import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ListToolsResult,
  type PriorDiscovery,
} from '@modelcontextprotocol/client';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { AppError } from '#lib/errors.ts';
import { secretsInAddress } from '../address.ts';
import type { Connection, ServerInfo } from '../connection.ts';
import type { CredentialSource } from '../credential-source.ts';
import { toToolServerFault, ToolServerFault } from './fault.ts';
import { discoveryOf, serverInfo } from './server-claims.ts';
import { createServerFetch } from './server-fetch.ts';

export interface ToolServerDeps {
  readonly outbound: Pick<OutboundClient, 'fetchWithin' | 'checkUrl'>;
  readonly credentials: CredentialSource;
}

export interface CallLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A session with one tool server, used by one caller at a time. Everything it throws is a `ToolServerFault`, or an `AppError` about credentials. */
export interface ToolSession {
  readonly server: ServerInfo;
  /** Which protocol the server speaks, to be spared the question when the next session is opened. */
  readonly discovery: PriorDiscovery;
  /** Whether the server remembers anything of it: it gave out an id, as servers of 2025 may. */
  readonly stateful: boolean;
  /** One page of the server's tools as it is now, never from a cache. */
  listTools(cursor: string | undefined, limits: CallLimits): Promise<ListToolsResult>;
  callTool(
    tool: ListToolsResult['tools'][number],
    args: Readonly<Record<string, unknown>>,
    limits: CallLimits,
  ): Promise<CallToolResult>;
  /** False once a fault has ended the session. */
  isAlive(): boolean;
  /** The values that authenticated its requests, in headers or in the query of its address. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

/** How long an answer that has ended may take to reach whoever waits for it. */
const GRACE_MS = 250;
/** And how many turns of the event loop: a process that was held up comes to its clock before it comes to the answer. */
const GRACE_TURNS = 20;
const GOODBYE_MS = 2_000;
const MAX_RESUME_DELAY_MS = 30_000;
const RESUME_ATTEMPTS = 2;

/**
 * Connects to the connection's server: the 2026-07-28 protocol where it is spoken, else the handshake of 2025.
 * @param prior what an earlier session found; a server that no longer speaks it is a fault, at the latest at the first request
 */
export async function openToolSession(
  deps: ToolServerDeps,
  connection: Connection,
  limits: CallLimits,
  prior?: PriorDiscovery,
): Promise<ToolSession> {
  const { url, sealedQuery = null } = connection;
  if (sealedQuery !== null) throw new Error('the address of the connection is still sealed');
  if (url === null) throw new ToolServerFault('not_mcp', { mayHaveArrived: false });
  const life = new AbortController();
  const secrets = new Set(secretsInAddress(url));
  let fault: ToolServerFault | AppError | undefined;
  let exchanges = 0;
  let waiting = false;
  let resuming = false;
  let failedResumes = 0;

  const client = new Client(CLIENT, {
    versionNegotiation: { mode: 'auto' },
    inputRequired: { autoFulfill: false },
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: createServerFetch({
      outbound: deps.outbound,
      credentials: deps.credentials,
      connection: { ...connection, url },
      signal: life.signal,
      watch: {
        sent() {
          exchanges += 1;
          resuming = false;
          failedResumes = 0;
        },
        // The MCP client waits for ever for an answer that ended without it, or came under another id.
        ended(error) {
          const exchange = exchanges;
          const giveUp = async () => {
            for (let turn = 0; turn < GRACE_TURNS; turn += 1) await nextTurn();
            if (!waiting || exchange !== exchanges || resuming) return;
            fail(error === undefined ? new ToolServerFault('broken') : toToolServerFault(error));
          };
          setTimeout(() => void giveUp(), GRACE_MS).unref();
        },
        notResumed() {
          failedResumes += 1;
          if (failedResumes >= RESUME_ATTEMPTS) fail(new ToolServerFault('broken'));
        },
        used(headers) {
          for (const value of Object.values(headers)) secrets.add(value.replace(/^Bearer /i, ''));
        },
      },
    }),
    reconnectionOptions: {
      maxRetries: RESUME_ATTEMPTS,
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
    },
    reconnectionScheduler(reconnect, delayMs) {
      resuming = true;
      const timer = setTimeout(
        () => {
          resuming = false;
          reconnect();
        },
        Math.min(delayMs, MAX_RESUME_DELAY_MS),
      );
      return () => clearTimeout(timer);
    },
  });

  function fail(reason: ToolServerFault | AppError): void {
    if (fault !== undefined) return;
    fault = reason;
    life.abort(reason);
    void transport.close().catch(() => undefined);
  }

  /** Runs one operation under its limits; whatever ends it early ends the session. */
  async function within<T>(
    { signal, timeoutMs }: CallLimits,
    work: (options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T> {
    if (fault !== undefined) throw fault;
    const stop = new AbortController();
    const stopped = Promise.withResolvers<never>();
    const end = (reason: ToolServerFault) => {
      stop.abort(reason);
      stopped.reject(reason);
      // In a moment, so that a server that understands the cancellation hears of it first.
      setTimeout(() => fail(reason), GRACE_MS).unref();
    };
    const timer = setTimeout(() => end(new ToolServerFault('too_slow')), timeoutMs);
    const cancel = () => end(new ToolServerFault('cancelled'));
    const die = () => stopped.reject(life.signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    life.signal.addEventListener('abort', die, { once: true });
    waiting = true;
    try {
      if (signal.aborted) throw new ToolServerFault('cancelled', { mayHaveArrived: false });
      // The library's own clock only stands behind ours.
      const options = { signal: stop.signal, timeout: timeoutMs + 10_000 };
      return await Promise.race([work(options), stopped.promise]);
    } catch (error) {
      if (fault !== undefined) throw fault;
      if (stop.signal.aborted) throw stop.signal.reason;
      throw toToolServerFault(error);
    } finally {
      waiting = false;
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      life.signal.removeEventListener('abort', die);
    }
  }

  async function close(): Promise<void> {
    const goodbye = fault === undefined ? transport.terminateSession() : Promise.resolve();
    const bored = new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref());
    await Promise.race([goodbye.catch(() => undefined), bored]);
    life.abort();
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
  }

  try {
    await within(limits, (options) =>
      client.connect(transport, { ...options, ...(prior === undefined ? {} : { prior }) }),
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
    isAlive: () => fault === undefined,
    secrets: () => [...secrets],
    close,
    listTools: (cursor, callLimits) =>
      hasTools
        ? within(callLimits, (options) =>
            client.request(
              { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
              options,
            ),
          )
        : Promise.resolve({ tools: [] }),
    callTool: (tool, args, callLimits) =>
      within(callLimits, (options) =>
        client.callTool(
          { name: tool.name, arguments: { ...args } },
          // Without the output schema: a pattern in it would be run against the answer with no limit on its time;
          // whoever calls checks the answer within one.
          { ...options, toolDefinition: { ...tool, outputSchema: undefined } },
        ),
      ),
  };
}

const CLIENT = { name: 'routine-automation-service', version: '1.0.0' };
