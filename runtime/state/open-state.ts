import { chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createEpoch, type Epoch } from './lease.ts';
import { createJournal, type Journal } from './journal.ts';

export interface RuntimeState {
  /** Id that was made with the folder. An envelope for this id cannot be replayed at a runtime with another journal. */
  readonly instanceId: string;
  readonly journal: Journal;
  readonly epoch: Epoch;
  close(): void;
}

/**
 * Opens the state of this runtime for this process alone. SQLite keeps an exclusive lock on the file while the process
 * lives, and each commit is on disk before it returns, as a journal needs.
 * @throws when another runtime uses the folder, or users other than its owner have access to the folder
 */
export function openState(folder: string): RuntimeState {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if ((statSync(folder).mode & 0o077) !== 0) {
    throw new Error('MODEL_RUNTIME_STATE_DIR: expected a folder with mode 0700');
  }
  const file = path.join(folder, 'journal.db');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = full;
      create table if not exists instance (
        one integer primary key check (one = 1),
        id text not null,
        epoch integer not null
      ) strict;
      create table if not exists calls (
        request_id text primary key,
        body_hash text not null,
        accepted_at integer not null,
        finished_at integer,
        result text
      ) strict;
      create index if not exists calls_by_time on calls (accepted_at);
    `);
    chmodSync(file, 0o600);
    const epoch = createEpoch(database);
    return {
      instanceId: epoch.instanceId,
      journal: createJournal(database),
      epoch,
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new Error('MODEL_RUNTIME_STATE_DIR: another runtime is using this folder', {
        cause: error,
      });
    }
    throw error;
  }
}

const SQLITE_BUSY = 5;
