import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { TransportError } from '@temporalio/worker';
import { isUnavailable, missingMigrations, schemaTooOld, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface Patience {
  /** Address of Temporal. */
  readonly address: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Repeats an attempt while Temporal cannot be reached: after a power cut everything starts at once, and a worker that
 * gave up would have to be started by hand.
 * @returns undefined when `signal` was aborted first; a running attempt is abandoned
 * @throws an error that waiting does not mend, such as a missing certificate file or an unknown namespace
 */
export async function untilReached<Result>(
  attempt: () => Promise<Result>,
  { address, log, signal }: Patience,
): Promise<Result | undefined> {
  const aborted = once(signal, 'abort').then(() => undefined);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (signal.aborted) return undefined;
    try {
      return await Promise.race([attempt(), aborted]);
    } catch (err) {
      if (!isUnreachable(err)) throw err;
      log.warn({ err, address, retryInMs: pauseMs }, 'Temporal cannot be reached');
    }
    await Promise.race([sleep(pauseMs), aborted]);
  }
}

/** Statuses of a server that refuses: INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNAUTHENTICATED. */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 7, 16]);
/** Matches these statuses in the text of a native error, which has no field for them. */
const REFUSAL = /Status \{ code: (InvalidArgument|NotFound|PermissionDenied|Unauthenticated)/;

function isUnreachable(err: unknown): boolean {
  if (err instanceof TransportError) return !REFUSAL.test(err.message);
  if (isGrpcServiceError(err)) return !REFUSALS.has(err.code);
  return err instanceof Error && isUnreachable(err.cause);
}

const PAUSE_MS = 2_000;

/**
 * Waits until the database has every migration of this release. A worker that began earlier would fail runs on missing
 * columns.
 * @returns false when `signal` was aborted first
 */
export async function untilMigrated(
  { database, log }: { readonly database: Db; readonly log: Log },
  signal: AbortSignal,
): Promise<boolean> {
  let said: string | undefined;
  while (!signal.aborted) {
    const obstacle = await obstacleOf(database);
    if (obstacle === undefined) return true;
    if (obstacle !== said) log.warn({ obstacle }, 'the worker waits for its database');
    said = obstacle;
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function obstacleOf(database: Db): Promise<string | undefined> {
  try {
    const missing = await missingMigrations(database);
    return missing.length === 0 ? undefined : schemaTooOld(missing);
  } catch (err) {
    if (!isUnavailable(err)) throw err;
    return 'Postgres cannot be reached';
  }
}
