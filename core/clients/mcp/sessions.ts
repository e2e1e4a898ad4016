import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { ToolServerError, type ToolServerErrorKind } from './error.ts';
import type { ToolServer } from './server.ts';
import { openToolSession, type ToolSession } from './session.ts';
import type { CallLimits } from './session-life.ts';

export interface LeasedSession {
  readonly session: ToolSession;
  /** True when an earlier call used the session: the server may have forgotten it since, or changed its tools. */
  readonly reused: boolean;
  /**
   * Returns the hash of a tool's definition from a list that this holder read on this session or an earlier session.
   * The list is at most five minutes old, and newer than the last change of tools that the server reported.
   */
  recall(tool: string): string | undefined;
  /**
   * Replaces the list of tools for the holder's next calls.
   * @param ttlMs time for which the server guarantees the list; at most five minutes count
   */
  remember(hashes: ReadonlyMap<string, string>, ttlMs: number): void;
  /** Forgets the lists of all holders for this server, because a tool has changed. */
  forget(): void;
  /** Keeps the session for the next call, or ends it when it cannot be used again. */
  release(outcome: 'keep' | 'end'): void;
}

export interface SessionKey {
  readonly server: ToolServer;
  /** Names the server together with its address and credentials. Calls under different names never share a session. */
  readonly version: string;
  /** Id of the run. Stateful sessions are not shared between runs. */
  readonly holder: string;
}

/**
 * Sessions with tool servers, kept between calls of this process. A session that its server remembers serves one run;
 * any other session serves every caller of the same server.
 */
export interface ToolSessions {
  lease(key: SessionKey, limits: CallLimits, options?: { fresh?: boolean }): Promise<LeasedSession>;
  close(): Promise<void>;
}

const IDLE_MS = 30_000;
const MAX_IDLE = 200;
/**
 * Time for which a discovered protocol is valid. It may be long: a server that has learned a newer protocol still
 * speaks the old one.
 */
const DISCOVERY_MS = 10 * 60_000;
const MAX_DISCOVERIES = 1_000;
/** Time for which a list is valid for the run that asked for it. */
const LIST_MS = 5 * 60_000;
/** The most tools in all remembered lists: some 20 MB. */
const MAX_REMEMBERED = 100_000;
/** Errors of a server that may not speak the protocol of the request. */
const OF_ANOTHER_PROTOCOL: ReadonlySet<ToolServerErrorKind> = new Set([
  'not_mcp',
  'protocol',
  'malformed',
  'server_error',
]);

export function createToolSessions(deps: { readonly outbound: Pick<OutboundClient, 'fetchWithin'> }): ToolSessions {
  const ending = new Set<Promise<void>>();
  /** Idle sessions by run and connection, or by the connection alone for a session that is not bound to a run. */
  const idle = new LRUCache<ToolSession, string>({
    max: MAX_IDLE,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    // Let an expired session be found until its timer ends it.
    allowStale: true,
    dispose: (_key, session, reason) => {
      if (reason === 'expire' || reason === 'evict') end(session);
    },
  });
  const discoveries = new LRUCache<string, PriorDiscovery>({ max: MAX_DISCOVERIES, ttl: DISCOVERY_MS });
  /** Hashes of definitions by tool, for each holder and version of a server. */
  const lists = new LRUCache<string, ReadonlyMap<string, string>>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: ({ size }) => size + 1,
    ttl: LIST_MS,
  });

  function forgetLists(version: string): void {
    for (const key of lists.keys()) if (key.endsWith(` ${version}`)) lists.delete(key);
  }

  /** Opens a session, in the protocol of an earlier discovery if that is recent. */
  async function open(
    key: string,
    server: ToolServer,
    limits: CallLimits,
    fresh: boolean,
  ): Promise<{ session: ToolSession; reused: boolean }> {
    const options = { onToolsChanged: () => forgetLists(key) };
    if (fresh) discoveries.delete(key);
    const known = discoveries.get(key);
    if (known !== undefined) {
      try {
        const session = await openToolSession(deps, server, limits, { ...options, prior: known });
        return { session, reused: true };
      } catch (error) {
        discoveries.delete(key);
        if (!(error instanceof ToolServerError) || !OF_ANOTHER_PROTOCOL.has(error.kind)) throw error;
      }
    }
    const session = await openToolSession(deps, server, limits, options);
    discoveries.set(key, session.discovery);
    return { session, reused: false };
  }

  function end(session: ToolSession): void {
    const ended = session.close().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function take(keys: readonly string[]): ToolSession | undefined {
    const fitting = [...idle.rkeys()].filter((session) => keys.includes(idle.peek(session) ?? ''));
    for (const session of fitting) {
      idle.delete(session);
      if (session.isAlive()) return session;
      end(session);
    }
    return undefined;
  }

  return {
    async lease({ server, version, holder }, limits, { fresh = false } = {}) {
      const bound = `${holder} ${version}`;
      const kept = fresh ? undefined : take([bound, version]);
      // Forget the list, because another session may lead to another server, whose tools are unknown.
      if (kept === undefined) lists.delete(bound);
      const { session, reused } =
        kept === undefined ? await open(version, server, limits, fresh) : { session: kept, reused: true };
      return {
        session,
        reused,
        recall: (tool) => lists.get(bound)?.get(tool),
        remember(hashes, ttlMs) {
          lists.set(bound, hashes, { ttl: Math.min(ttlMs, LIST_MS) });
        },
        forget: () => forgetLists(version),
        release(outcome) {
          if (outcome === 'keep' && session.isAlive()) {
            idle.set(session, session.stateful ? bound : version);
            return;
          }
          lists.delete(bound);
          end(session);
        },
      };
    },
    async close() {
      for (const session of idle.keys()) end(session);
      idle.clear();
      await Promise.all(ending);
    },
  };
}
