import { withAddress } from '../address.ts';
import type { Connection } from '../connection.ts';
import type { ConnectionSecrets } from '../secrets.ts';
import {
  openToolSession,
  type CallLimits,
  type ToolServerDeps,
  type ToolSession,
} from './session.ts';

export interface LeasedSession {
  readonly session: ToolSession;
  /** It was opened for an earlier call, so the server may have forgotten it. */
  readonly reused: boolean;
  /** Keeps the session for the next call of the run, or ends it when it is of no more use. */
  release(outcome: 'keep' | 'end'): void;
}

/** Sessions with tool servers, kept between the calls of a run for as long as they come in this process. */
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

export function createToolSessions(
  deps: ToolServerDeps & { readonly connectionSecrets: ConnectionSecrets },
): ToolSessions {
  const idle = new Map<string, { session: ToolSession; timer: NodeJS.Timeout }>();
  const ending = new Set<Promise<void>>();

  function end(session: ToolSession): void {
    const ended = session.close().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function take(key: string): ToolSession | undefined {
    const found = idle.get(key);
    if (found === undefined) return undefined;
    clearTimeout(found.timer);
    idle.delete(key);
    if (found.session.isAlive()) return found.session;
    end(found.session);
    return undefined;
  }

  function keep(key: string, session: ToolSession): void {
    const oldest = idle.size >= MAX_IDLE ? idle.keys().next().value : undefined;
    for (const full of [key, oldest]) {
      const replaced = full === undefined ? undefined : take(full);
      if (replaced !== undefined) end(replaced);
    }
    const timer = setTimeout(() => {
      idle.delete(key);
      end(session);
    }, IDLE_MS).unref();
    idle.set(key, { session, timer });
  }

  return {
    async lease({ runId, connection }, limits, { fresh = false } = {}) {
      // Changed credentials or another address must not meet an old session.
      const key = `${runId} ${connection.id} ${connection.updatedAt.getTime()}`;
      const kept = fresh ? undefined : take(key);
      const session =
        kept ??
        (await openToolSession(deps, withAddress(deps.connectionSecrets, connection), limits));
      return {
        session,
        reused: kept !== undefined,
        release(outcome) {
          if (outcome === 'keep' && session.isAlive()) keep(key, session);
          else end(session);
        },
      };
    },
    async close() {
      for (const key of idle.keys()) {
        const session = take(key);
        if (session !== undefined) end(session);
      }
      await Promise.all(ending);
    },
  };
}
