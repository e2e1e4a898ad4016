import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { withAddress } from '../address.ts';
import type { Connection } from '../connection.ts';
import type { ConnectionSecrets } from '../secrets.ts';
import { ToolServerFault, type ToolServerFaultKind } from './fault.ts';
import {
  openToolSession,
  type CallLimits,
  type ToolServerDeps,
  type ToolSession,
} from './session.ts';

export interface LeasedSession {
  readonly session: ToolSession;
  /** It rests on what an earlier call found, which the server may have forgotten or changed. */
  readonly reused: boolean;
  /** Keeps the session for the next call of the run, or ends it when it is of no more use. */
  release(outcome: 'keep' | 'end'): void;
}

/**
 * Sessions with tool servers, kept between the calls of a run for as long as they come in this process. One of which
 * the server remembers nothing serves the other runs of its connection too; what a server remembers stays in its run.
 */
export interface ToolSessions {
  lease(
    key: { runId: string; connection: Connection },
    limits: CallLimits,
    options?: { fresh?: boolean },
  ): Promise<LeasedSession>;
  close(): Promise<void>;
}

const IDLE_MS = 30_000;
const MAX_IDLE = 200;
/** How long it is believed which protocol a server speaks: one that has learned the new one still speaks the old. */
const DISCOVERY_MS = 10 * 60_000;
const MAX_DISCOVERIES = 1_000;
/** How a server answers that does not speak the protocol it is spoken to in. */
const OF_ANOTHER_PROTOCOL: ReadonlySet<ToolServerFaultKind> = new Set([
  'not_mcp',
  'protocol',
  'malformed',
  'server_error',
]);

interface IdleSession {
  /** The run and the connection, or for one that is not bound to its run the connection alone. */
  readonly key: string;
  readonly session: ToolSession;
  readonly timer: NodeJS.Timeout;
}

export function createToolSessions(
  deps: ToolServerDeps & { readonly connectionSecrets: ConnectionSecrets },
): ToolSessions {
  const idle = new Set<IdleSession>();
  const ending = new Set<Promise<void>>();
  const discoveries = new Map<string, { discovery: PriorDiscovery; until: number }>();

  /** Opens a session, on what an earlier one found out where that is not long ago. */
  async function open(
    key: string,
    connection: Connection,
    limits: CallLimits,
    fresh: boolean,
  ): Promise<{ session: ToolSession; reused: boolean }> {
    const address = withAddress(deps.connectionSecrets, connection);
    const known = discoveries.get(key);
    discoveries.delete(key);
    if (!fresh && known !== undefined && known.until > Date.now()) {
      try {
        const session = await openToolSession(deps, address, limits, known.discovery);
        discoveries.set(key, known);
        return { session, reused: true };
      } catch (error) {
        if (!(error instanceof ToolServerFault) || !OF_ANOTHER_PROTOCOL.has(error.kind))
          throw error;
      }
    }
    const session = await openToolSession(deps, address, limits);
    const oldest =
      discoveries.size >= MAX_DISCOVERIES ? discoveries.keys().next().value : undefined;
    if (oldest !== undefined) discoveries.delete(oldest);
    discoveries.set(key, { discovery: session.discovery, until: Date.now() + DISCOVERY_MS });
    return { session, reused: false };
  }

  function end(session: ToolSession): void {
    const ended = session.close().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function remove(entry: IdleSession): ToolSession {
    clearTimeout(entry.timer);
    idle.delete(entry);
    return entry.session;
  }

  function take(keys: readonly string[]): ToolSession | undefined {
    for (const entry of idle) {
      if (!keys.includes(entry.key)) continue;
      const session = remove(entry);
      if (session.isAlive()) return session;
      end(session);
    }
    return undefined;
  }

  function keep(key: string, session: ToolSession): void {
    const [oldest] = idle;
    if (oldest !== undefined && idle.size >= MAX_IDLE) end(remove(oldest));
    const timer = setTimeout(() => end(remove(entry)), IDLE_MS).unref();
    const entry = { key, session, timer };
    idle.add(entry);
  }

  return {
    async lease({ runId, connection }, limits, { fresh = false } = {}) {
      // Changed credentials or another address must not meet an old session.
      const version = `${connection.id} ${connection.updatedAt.getTime()}`;
      const ofRun = `${runId} ${version}`;
      const kept = fresh ? undefined : take([ofRun, version]);
      const { session, reused } =
        kept === undefined
          ? await open(version, connection, limits, fresh)
          : { session: kept, reused: true };
      return {
        session,
        reused,
        release(outcome) {
          if (outcome === 'keep' && session.isAlive())
            keep(session.stateful ? ofRun : version, session);
          else end(session);
        },
      };
    },
    async close() {
      for (const entry of idle) end(remove(entry));
      await Promise.all(ending);
    },
  };
}
