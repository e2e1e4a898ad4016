import { setTimeout as sleep } from 'node:timers/promises';
import { execute, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

/** Notifies the followers of runs in all processes of changes. */
export interface RunChanges {
  /** Announces a committed change. Does not wait and never throws; the next read finds what failed. */
  tell(runId: string): void;
  /** Resolves when no notification is being sent. */
  settled(): Promise<void>;
}

/** Channel on which the ids of changed runs are notified. */
export const CHANGES_CHANNEL = 'run_changed';

/** Interval at which one statement announces all changes since the last one, which limits the cost. */
const EVERY_MS = 20;

/**
 * Notifies in a statement of its own after the commit, never in the transaction of the change: a transaction that
 * notifies holds a lock of the whole server until its commit is on disk. With 16 writers that all notified, 300 changes
 * a second were committed instead of 1,100.
 */
export function createRunChanges({ database, log }: { database: Db; log: Log }): RunChanges {
  const changed = new Set<string>();
  let telling: Promise<void> | undefined;

  async function tellAll(): Promise<void> {
    try {
      while (changed.size > 0) {
        const ids = [...changed];
        changed.clear();
        await notifyFollowers(database, ids);
        await sleep(EVERY_MS, undefined, { ref: false });
      }
    } catch (err) {
      log.warn({ err }, 'followers could not be notified');
    } finally {
      telling = undefined;
    }
  }

  return {
    tell(runId) {
      changed.add(runId);
      telling ??= tellAll();
    },
    async settled() {
      await telling;
    },
  };
}

/**
 * Returns an SQL condition that is true when the run has followers. The statement that changes the run asks it, so
 * that a change without followers needs no statement of its own. A stream that opens meanwhile is not missed: it
 * reads the run once more a moment after its first read.
 */
export function isFollowed(runId: Sql): Sql {
  return sql`exists (select from run_followers f where f.run_id = ${runId})`;
}

async function notifyFollowers(db: Db, runIds: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`
      select pg_notify(${CHANGES_CHANNEL}, run_id)
      from (select distinct run_id from run_followers where run_id = any(${runIds})) followed
    `,
  );
}
