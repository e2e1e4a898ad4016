import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Time without an envelope after which a lease ends. */
export const LEASE_MS = 30_000;

/**
 * Lease of the API side in this process. Each envelope states the epoch of the lease and renews the lease. Under an
 * expired lease, work must not continue and results must not be stored.
 */
export interface Lease {
  /** Accepts an envelope's epoch. @returns false for an expired epoch */
  renew(epoch: number): boolean;
  /** Tells whether work of this epoch still counts. */
  holds(epoch: number): boolean;
  epoch(): number;
  close(): void;
}

interface LeaseOptions {
  /** Milliseconds of a monotonic clock that also runs while the process is stopped. */
  readonly now?: () => number;
  readonly leaseMs?: number;
}

/** @param onLost called when work under lower epochs than `below` must end */
export function createLease(
  stored: Epoch,
  onLost: (below: number) => void,
  { now = () => performance.now(), leaseMs = LEASE_MS }: LeaseOptions = {},
): Lease {
  let renewedAt = now();
  const isOver = () => now() - renewedAt > leaseMs;
  const check = () => {
    if (isOver()) onLost(Infinity);
  };
  const timer = setInterval(check, 1_000);
  timer.unref();
  return {
    renew(epoch) {
      if (epoch < stored.current()) return false;
      // Check first: a process that was suspended may read this envelope before its timer fires.
      check();
      if (epoch > stored.current()) {
        stored.raise(epoch);
        onLost(epoch);
      }
      renewedAt = now();
      return true;
    },
    holds: (epoch) => epoch === stored.current() && !isOver(),
    epoch: () => stored.current(),
    close: () => clearInterval(timer),
  };
}

/** The stored epoch: the highest under which this instance was ever called. */
export interface Epoch {
  readonly instanceId: string;
  current(): number;
  /** Stores a higher epoch; returns once it is on disk. */
  raise(epoch: number): void;
}

export function createEpoch(database: DatabaseSync): Epoch {
  database.prepare('insert into instance (one, id, epoch) values (1, ?, 0) on conflict do nothing').run(randomUUID());
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
