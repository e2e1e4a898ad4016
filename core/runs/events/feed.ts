import { randomUUID } from 'node:crypto';
import { setImmediate as turnOver } from 'node:timers/promises';
import { openListener, type Database, type Listener } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { CHANGES_CHANNEL } from './changes.ts';
import {
  endLeases,
  renewLeases,
  takeLease,
  type StreamLease,
  type StreamLimits,
} from './leases.ts';
import { createSnapshotReader, readVersions, type RunSnapshot } from './snapshot.ts';
import { createWatches, type Watch } from './watches.ts';

/** Serves one process's followers of runs. */
export interface RunFeed {
  /**
   * Follows a run. @throws {AppError} `rate_limited` when the follower has reached the limit of streams,
   * `service_unavailable` when this process has
   */
  follow(
    run: { readonly projectId: string; readonly id: string },
    follower: Pick<StreamLease, 'credential' | 'organizationId'>,
    signal: AbortSignal,
  ): Promise<RunWatch>;
  /** Returns the number of open streams, and whether Postgres notifies of changes; otherwise they are polled for. */
  status(): { readonly streams: number; readonly live: boolean };
  /** Ends every watch and refuses new ones, as the process is about to stop. */
  close(): void;
  /** Resolves when, after `close`, no work is left. */
  settled(): Promise<void>;
}

export interface RunWatch extends Pick<Watch, 'changed'> {
  /** Reads the run with its steps after this index. Concurrent followers share the read. */
  read(afterIndex: number): Promise<RunSnapshot>;
  /** Returns true when the watch is over because the process stops. */
  isClosed(): boolean;
}

export interface RunFeedOptions {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly limits: StreamLimits & { readonly perProcess: number };
  readonly log: Log;
}

/** Interval of the reads that find what notifications have missed, while notifications arrive. */
const LIVE_PAUSE_MS = 1_000;

/** Interval of the reads while no notifications arrive; they take at most a fifth of one connection's time. */
const POLL_PAUSE_MS = 50;

/**
 * Delay of a second read: a change announced just before a stream was recorded may have been committed after its first
 * read.
 */
const SETTLED_AFTER_MS = 100;

const RENEW_EVERY_MS = 30_000;

export function createRunFeed({ database, databaseUrl, limits, log }: RunFeedOptions): RunFeed {
  const watches = createWatches();
  const leases = new Map<string, StreamLease>();
  const readSnapshot = createSnapshotReader(database);
  const poller = createPoller(look, pauseAfter);
  let streams = 0;
  let renewAt = 0;
  let closed = false;
  let listener: Listener | undefined;
  const ended: string[] = [];
  let ending: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (closed || leases.size === 0) return;
    try {
      if (performance.now() > renewAt) {
        await renewLeases(database, [...leases.values()]);
        renewAt = performance.now() + RENEW_EVERY_MS;
      }
      for (const { id, version } of await readVersions(database, watches.runIds())) {
        watches.found(id, version);
      }
    } catch (err) {
      log.warn({ err }, 'followed runs could not be read');
    }
  }

  function pauseAfter(tookMs: number): number {
    if (closed || leases.size === 0) return Number.POSITIVE_INFINITY;
    return listener?.isLive() === true ? LIVE_PAUSE_MS : Math.max(POLL_PAUSE_MS, 4 * tookMs);
  }

  function listen(): Listener {
    return openListener({
      url: databaseUrl,
      database,
      channel: CHANGES_CHANNEL,
      log,
      onNotification: (runId) => watches.changed(runId),
      onChange() {
        // Postgres may have lost the leases, and changes while no process listened.
        renewAt = 0;
        poller.within(0);
      },
    });
  }

  function endLease(id: string): void {
    leases.delete(id);
    ended.push(id);
    ending ??= endAll();
  }

  /** Deletes the records of streams that end together, in one statement; a lease that stays behind expires. */
  async function endAll(): Promise<void> {
    await turnOver();
    try {
      while (ended.length > 0) await endLeases(database, ended.splice(0));
    } catch (err) {
      log.warn({ err }, 'ended event streams could not be forgotten');
    } finally {
      ending = undefined;
    }
  }

  return {
    async follow(run, follower, signal) {
      if (closed || streams >= limits.perProcess) {
        throw new AppError('service_unavailable', undefined, { 'Retry-After': '5' });
      }
      const lease = { id: randomUUID(), runId: run.id, ...follower };
      streams += 1;
      try {
        await takeLease(database, lease, limits);
      } catch (error) {
        streams -= 1;
        throw error;
      }
      leases.set(lease.id, lease);
      listener ??= listen();
      const watch = watches.add(run.id, signal);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      poller.within(SETTLED_AFTER_MS);

      function stop(): void {
        streams -= 1;
        endLease(lease.id);
      }

      return {
        changed: () => watch.changed(),
        isClosed: () => closed,
        async read(afterIndex) {
          const snapshot = await readSnapshot({ ...run, afterIndex });
          watch.saw(snapshot.version);
          return snapshot;
        },
      };
    },
    status: () => ({ streams, live: listener?.isLive() === true }),
    close() {
      closed = true;
      watches.close();
    },
    async settled() {
      await listener?.close();
      await ending;
    },
  };
}

export interface Poller {
  /** Ensures that the next call of `work` begins within this time. */
  within(ms: number): void;
}

/**
 * Calls `work` repeatedly, never twice at a time.
 * @param work must not throw
 * @param pauseAfter returns the pause after a call of this duration; Infinity stops until `within` is called
 */
function createPoller(work: () => Promise<void>, pauseAfter: (tookMs: number) => number): Poller {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let working = false;

  function within(ms: number): void {
    const at = performance.now() + ms;
    if (at >= dueAt) return;
    dueAt = at;
    if (working) return;
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), ms);
    timer.unref();
  }

  async function poll(): Promise<void> {
    const started = performance.now();
    working = true;
    dueAt = Number.POSITIVE_INFINITY;
    await work();
    working = false;
    const now = performance.now();
    const asked = dueAt - now;
    dueAt = Number.POSITIVE_INFINITY;
    within(Math.max(Math.min(asked, pauseAfter(now - started)), 0));
  }

  return { within };
}
