import { setTimeout as sleep } from 'node:timers/promises';
import { execute, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

/** Tells the followers of runs, in whatever process, of changes. */
export interface RunChanges {
  /** Tells of a change that is committed. Does not wait and never throws; what goes amiss is found by the next look. */
  tell(runId: string): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

/** The channel on which the ids of changed runs are notified. */
export const CHANGES_CHANNEL = 'run_changed';

/** One statement at a time tells of all changes since the last, and so often at most: that bounds what telling costs. */
const EVERY_MS = 20;

/**
 * Notifies in a statement of its own after the commit, and never in the transaction of the change: a transaction that
 * notifies holds a lock of the whole server until its commit is on disk. With 16 writers whose every change notified,
 * 300 committed a second instead of 1,100.
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

async function notifyFollowers(db: Db, runIds: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`
      select pg_notify(${CHANGES_CHANNEL}, run_id)
      from (select distinct run_id from run_followers where run_id = any(${runIds})) followed
    `,
  );
}
