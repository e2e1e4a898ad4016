import { setTimeout as sleep } from 'node:timers/promises';
import { rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';

/** Notifies followers of runs that change, with one periodic query for all of them. */
export interface RunFeed {
  /** @throws {AppError} `service_unavailable` when this process can take no more followers */
  watch(runId: string, signal: AbortSignal): RunWatch;
  /** Ends every watch, and refuses new ones: the process is about to stop. */
  close(): void;
}

export interface RunWatch {
  /** Resolves with true when the run may have changed since the last call, with false when the watch is over. */
  changed(): Promise<boolean>;
}

/** Polls twice a second for all runs together; `NOTIFY` would take a lock at every commit of every run instead. */
const POLL_MS = 500;
const MAX_FOLLOWERS = 2_000;

interface Follower {
  news: boolean;
  wake: () => void;
}

interface Followed {
  version: string | undefined;
  readonly followers: Set<Follower>;
}

export function createRunFeed(db: Db, log: Log): RunFeed {
  const runs = new Map<string, Followed>();
  let followers = 0;
  let polling = false;
  const closed = new AbortController();

  async function poll(): Promise<void> {
    polling = true;
    while (runs.size > 0) {
      await sleep(POLL_MS, undefined, { ref: false });
      try {
        for (const { id, version } of await readVersions(db, [...runs.keys()])) tell(id, version);
      } catch (err) {
        log.warn({ err }, 'followed runs could not be read');
      }
    }
    polling = false;
  }

  function tell(id: string, version: string): void {
    const run = runs.get(id);
    if (run === undefined || run.version === version) return;
    run.version = version;
    for (const follower of run.followers) {
      follower.news = true;
      follower.wake();
    }
  }

  return {
    watch(runId, signal) {
      if (closed.signal.aborted || followers >= MAX_FOLLOWERS) {
        throw new AppError('service_unavailable', undefined, { 'Retry-After': '5' });
      }
      const run = runs.get(runId) ?? { version: undefined, followers: new Set() };
      // A new follower has read nothing yet.
      const follower: Follower = { news: true, wake: () => undefined };
      runs.set(runId, run);
      run.followers.add(follower);
      followers += 1;
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      if (!polling) void poll();

      function stop(): void {
        if (!run.followers.delete(follower)) return;
        followers -= 1;
        if (run.followers.size === 0) runs.delete(runId);
        follower.wake();
      }

      return {
        async changed() {
          const over = () => closed.signal.aborted || !run.followers.has(follower);
          if (!follower.news && !over()) {
            await new Promise<void>((resolve) => {
              follower.wake = resolve;
            });
          }
          follower.news = false;
          return !over();
        },
      };
    },
    close() {
      closed.abort();
      for (const run of runs.values()) for (const follower of run.followers) follower.wake();
      runs.clear();
    },
  };
}

/** Reads a version for each run, which changes with its state and with the number of its finished steps. */
function readVersions(db: Db, ids: readonly string[]): Promise<{ id: string; version: string }[]> {
  return rows(
    db,
    sql`
      select id, state || ' ' || (
        select count(*) from steps where run_id = runs.id and state not in ('pending', 'started')
      ) as version
      from runs where id = any(${ids})
    `,
  );
}
