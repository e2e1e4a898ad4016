import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, missingMigrations, schemaTooOld, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

const PAUSE_MS = 2_000;

/**
 * Waits until the database has every migration that this release needs. A worker that began before would fail runs on
 * columns that are not there.
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
