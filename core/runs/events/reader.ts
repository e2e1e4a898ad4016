import { setImmediate as turnOver } from 'node:timers/promises';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { readSnapshots, type RunSnapshot, type SnapshotRequest } from './snapshot.ts';

/** Reads a run with its steps after an index. @throws {AppError} `run_not_found` */
export type SnapshotReader = (request: SnapshotRequest) => Promise<RunSnapshot>;

/** Snapshots of one read: many small ones cost little more than one, and large ones are not in memory together. */
const BATCH = 20;

/** Reads at a time: a large one delays no others, and a burst takes only part of the pool. */
const READS = 3;

interface Waiting extends PromiseWithResolvers<RunSnapshot> {
  readonly request: SnapshotRequest;
}

/**
 * Reads for all followers of a process: those that want the same share what is read, and all that wait while reads are
 * under way go together into the next. Each read begins after whoever it is for has asked, so nobody is given what is
 * older than the change that they heard of.
 */
export function createSnapshotReader(db: Db): SnapshotReader {
  const waiting = new Map<string, Waiting>();
  let reads = 0;

  async function readWaiting(): Promise<void> {
    // What is asked in the same turn of the event loop goes together from the first read on.
    await turnOver();
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, BATCH);
      for (const [key] of batch) waiting.delete(key);
      await readBatch(
        db,
        batch.map(([, one]) => one),
      );
    }
    reads -= 1;
  }

  return (request) => {
    const key = `${request.projectId} ${request.id} ${request.afterIndex}`;
    let one = waiting.get(key);
    if (one === undefined) {
      waiting.set(key, (one = { request, ...Promise.withResolvers<RunSnapshot>() }));
    }
    if (reads < READS) {
      reads += 1;
      void readWaiting();
    }
    return one.promise;
  };
}

/** Reads a batch and gives each caller its own snapshot, or all of them the error. */
async function readBatch(db: Db, batch: readonly Waiting[]): Promise<void> {
  try {
    const found = await readSnapshots(
      db,
      batch.map(({ request }) => request),
    );
    for (const [n, { resolve, reject }] of batch.entries()) {
      const snapshot = found[n];
      if (snapshot === undefined) reject(new AppError('run_not_found'));
      else resolve(snapshot);
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
