import type { Db } from '#lib/database/index.ts';

/** A row of work that only this process may attempt, for the length of its lease. */
export interface WorkItem {
  /** Names the work within its kind: an id of the subject that owns the kind. */
  readonly key: string;
  /** Number of the attempt, from 1. The records of earlier attempts are ignored. */
  readonly attempt: number;
  readonly payload: unknown;
}

/**
 * Result of an attempt. After `retry` the row waits as long as its kind says; once the kind has no waits left, the row
 * is given up.
 */
export type WorkOutcome =
  | { readonly state: 'done' }
  | { readonly state: 'cancelled' | 'failed'; readonly error: string }
  | {
      readonly state: 'retry';
      readonly error: string;
      /** Set if the wait for the next attempt differs from the kind's. */
      readonly delayMs?: number;
      /** True when no other row of the kind can succeed now, because all need a system that is away. */
      readonly isAway?: boolean;
    };

export type EndedWork = Exclude<WorkOutcome, { readonly state: 'retry' }>;

interface AnyKind {
  /** Number of rows attempted at the same time: few enough to end well within their lease. */
  readonly batch: number;
  /** Waits between attempts. After the last attempt the row is given up. */
  readonly waitsMs: readonly number[];
}

/**
 * A kind whose whole effect is in Postgres. The effect happens exactly once, in the transaction that removes the row. A
 * row that was given up stays in the queue for operators.
 */
export interface RecordKind extends AnyKind {
  readonly record: (tx: Db, item: WorkItem) => Promise<void>;
}

/** The pace of kinds that fail only if Postgres does. Each row of a batch holds a connection of the pool. */
export const RECORD_PACE = { batch: 4, waitsMs: [10_000, 60_000, 600_000, 3_600_000] } as const;

/**
 * A kind that asks another system, outside of any transaction. If the process dies before it records the end of the
 * row, the effect may happen twice.
 */
export interface RequestKind extends AnyKind {
  readonly attempt: (item: WorkItem, signal: AbortSignal | undefined) => Promise<WorkOutcome>;
  /** Writes the end of the work into the table of its owner, in the transaction that removes the row. */
  readonly ended: (tx: Db, item: WorkItem, outcome: EndedWork) => Promise<void>;
  /** Label under which attempts at messages are counted. */
  readonly channel?: 'mail' | 'ping' | 'account' | 'chat';
}

/**
 * The kinds of a release, by name. The subject that owns the work makes its kind, and the top of the core joins the
 * kinds. A kind is undefined if this process cannot do its work; its rows then wait.
 */
export type Kinds = Readonly<Record<string, RecordKind | RequestKind | undefined>>;
