import type { DatabaseSync } from 'node:sqlite';
import type { Log } from '#lib/log.ts';

/**
 * Record of the accepted calls and their outcomes. The record prevents replays and makes calls idempotent. An accepted
 * call without an end was running when the process died, or was given up.
 */
export interface Journal {
  find(requestId: string): JournalEntry | undefined;
  /** Records the acceptance on disk before it returns, and so before the provider is asked. */
  accept(requestId: string, bodyHash: string): void;
  /** @param sealed the outcome, sealed for the disk */
  finish(requestId: string, sealed: string): void;
  /** Deletes results after an hour, or sooner when there are too many, and ids after 25 hours. */
  prune(): void;
}

export interface JournalEntry {
  readonly bodyHash: string;
  readonly state: 'accepted' | 'finished';
  /** The sealed result; undefined when it is no longer kept. */
  readonly sealed: string | undefined;
}

export const KEEP_IDS_MS = 25 * 3_600_000;
export const KEEP_RESULTS_MS = 3_600_000;
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

interface JournalOptions {
  readonly now?: () => number;
  readonly maxResultBytes?: number;
}

export function createJournal(
  database: DatabaseSync,
  { now = Date.now, maxResultBytes = MAX_RESULT_BYTES }: JournalOptions = {},
): Journal {
  const find = database.prepare('select body_hash, finished_at, result from calls where request_id = ?');
  const accept = database.prepare('insert into calls (request_id, body_hash, accepted_at) values (?, ?, ?)');
  const finish = database.prepare('update calls set finished_at = ?, result = ? where request_id = ?');
  const dropIds = database.prepare('delete from calls where accepted_at < ?');
  const dropOldResults = database.prepare(
    'update calls set result = null where finished_at < ? and result is not null',
  );
  // Keep the newest results, as many as fit into the limit on bytes.
  const dropResultsBeyond = database.prepare(`
    update calls set result = null where request_id in (
      select request_id from (
        select request_id, sum(length(result)) over (
          order by finished_at desc, request_id
        ) as bytes
        from calls where result is not null
      ) where bytes > ?
    )`);
  return {
    find(requestId) {
      const row = find.get(requestId);
      if (row === undefined) return undefined;
      const { body_hash: bodyHash, finished_at: finishedAt, result } = row;
      return {
        bodyHash: String(bodyHash),
        state: finishedAt === null ? 'accepted' : 'finished',
        sealed: typeof result === 'string' ? result : undefined,
      };
    },
    accept: (requestId, bodyHash) => void accept.run(requestId, bodyHash, now()),
    finish: (requestId, sealed) => void finish.run(now(), sealed, requestId),
    prune() {
      dropIds.run(now() - KEEP_IDS_MS);
      dropOldResults.run(now() - KEEP_RESULTS_MS);
      dropResultsBeyond.run(maxResultBytes);
    },
  };
}

const EVERY_MS = 60_000;

/**
 * Prunes the journal now and every minute. On a full disk pruning fails and the runtime continues: each call that
 * cannot begin reports the full disk.
 * @returns a function that stops the pruning
 */
export function keepPruned(journal: Pick<Journal, 'prune'>, log: Pick<Log, 'error'>, everyMs = EVERY_MS): () => void {
  const prune = () => {
    try {
      journal.prune();
    } catch (err) {
      log.error({ err }, 'old calls were not deleted');
    }
  };
  prune();
  const timer = setInterval(prune, everyMs);
  return () => clearInterval(timer);
}
