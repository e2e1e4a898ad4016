import { randomUUID } from 'node:crypto';
import { setImmediate as turnOver, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { endLeases, renewLeases, takeLease, type StreamLease, type StreamLimits } from './leases.ts';
import { createSnapshotReader, type RunSnapshot } from './snapshot.ts';
import { createWatches, type RunCursor, type Watch } from './watches.ts';

/** Serves the followers of runs in one process. */
export interface RunFeed {
  /**
   * Follows a run.
   * @throws {AppError} `rate_limited` when the follower has too many open streams, `service_unavailable` when this
   * process has too many or stops
   */
  follow(
    run: { readonly projectId: string; readonly id: string },
    follower: Follower,
    signal: AbortSignal,
  ): Promise<RunWatch>;
  /** Returns the number of open streams. */
  streams(): number;
  /** Ends every watch and refuses new watches: the process is about to stop. */
  close(): void;
  /** Resolves when no work is left after `close`. */
  idle(): Promise<void>;
}

export interface Follower extends Pick<StreamLease, 'credential' | 'organizationId'> {
  /** True if the text of the running step is wanted too. */
  readonly wantsText: boolean;
}

export interface RunWatch extends Watch {
  /** Reads the run with its steps and texts after this position. Concurrent followers share the read. */
  read(from: RunCursor): Promise<RunSnapshot>;
  /** Tells whether the watch ended because the process stops. */
  isClosed(): boolean;
}

export interface RunFeedOptions {
  readonly database: Database;
  readonly limits: StreamLimits & { readonly perProcess: number };
  readonly log: Log;
}

/**
 * The least pause between two looks. After a longer look the pause is as long as the look, so looks take at most half
 * of one connection's time.
 */
const PAUSE_MS = 20;

/** Pause while no follower waits. While followers wait, Postgres waits for the next commit. */
const IDLE_PAUSE_MS = 30;

/** First and longest pause while Postgres is away. Each pause is twice as long as the previous pause. */
const AWAY_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

const RENEW_EVERY_MS = 30_000;

export function createRunFeed({ database, limits, log }: RunFeedOptions): RunFeed {
  const watches = createWatches();
  const leases = new Map<string, StreamLease>();
  const readSnapshot = createSnapshotReader(database);
  const closing = new AbortController();
  let streams = 0;
  let renewAt = 0;
  let failures = 0;
  let looking: Promise<void> | undefined;
  const ended: string[] = [];
  let ending: Promise<void> | undefined;

  /** Looks again and again while there are streams. */
  async function keepLooking(): Promise<void> {
    const { signal } = closing;
    while (leases.size > 0 && !signal.aborted) {
      const pauseMs = await look();
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
    looking = undefined;
  }

  /** Looks at all followed runs, and returns the pause before the next look. */
  async function look(): Promise<number> {
    try {
      const begun = performance.now();
      if (begun > renewAt) {
        await renewLeases(database, [...leases.values()]);
        renewAt = begun + RENEW_EVERY_MS;
      }
      if (watches.isEmpty()) return IDLE_PAUSE_MS;
      const mayHaveMoved = await watches.mayHaveMoved(database);
      const lookedAt = performance.now();
      if (mayHaveMoved) await watches.look(database);
      failures = 0;
      return mayHaveMoved ? Math.max(PAUSE_MS, performance.now() - lookedAt) : 0;
    } catch (err) {
      if (failures === 0) log.warn({ err }, 'followed runs could not be read');
      failures += 1;
      // Postgres may have lost the leases, so renew them at once.
      renewAt = 0;
      return Math.min(AWAY_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    }
  }

  function endLease(id: string): void {
    leases.delete(id);
    ended.push(id);
    ending ??= endAll();
  }

  /** Deletes the leases of ended streams, all in one statement. If that fails, the leases expire. */
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
    async follow(run, { wantsText, ...follower }, signal) {
      if (closing.signal.aborted || streams >= limits.perProcess) {
        throw new AppError('service_unavailable', undefined, { 'Retry-After': '5' });
      }
      const lease = { id: randomUUID(), ...follower, textOf: wantsText ? run.id : null };
      streams += 1;
      try {
        await takeLease(database, lease, limits);
      } catch (error) {
        streams -= 1;
        throw error;
      }
      leases.set(lease.id, lease);
      const watch = watches.add(run.id, signal);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      if (leases.size > 0) looking ??= keepLooking();

      function stop(): void {
        streams -= 1;
        endLease(lease.id);
      }

      return {
        changed: (from) => watch.changed(from),
        isClosed: () => closing.signal.aborted,
        read: (from) => readSnapshot({ ...run, from }),
      };
    },
    streams: () => streams,
    close() {
      closing.abort();
      watches.close();
    },
    async idle() {
      await looking;
      await ending;
    },
  };
}
