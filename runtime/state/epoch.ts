import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Highest epoch under which this instance was ever called. */
export interface Epoch {
  readonly instanceId: string;
  current(): number;
  /** Stores a higher epoch, on disk before it returns. */
  raise(epoch: number): void;
}

export function createEpoch(database: DatabaseSync): Epoch {
  database
    .prepare('insert into instance (one, id, epoch) values (1, ?, 0) on conflict do nothing')
    .run(randomUUID());
  const row = database.prepare('select id, epoch from instance').get();
  const instanceId = String(row?.['id']);
  let current = Number(row?.['epoch']);
  const update = database.prepare('update instance set epoch = ?');
  return {
    instanceId,
    current: () => current,
    raise(epoch) {
      if (epoch <= current) return;
      update.run(epoch);
      current = epoch;
    },
  };
}
