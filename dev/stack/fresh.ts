import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { FormerData } from '#migrations/migrate.ts';
import type { Log } from './child.ts';
import { stopSurvivors } from './guarded.ts';

/**
 * Moves the data of earlier starts aside, for `npm start -- --fresh`, and prints the new folder. Nothing is deleted.
 * Processes of an earlier start are stopped first.
 * @returns the folder that now has the data; undefined without data
 * @throws when another start uses the data
 */
export async function setDataAside(dataDir: string, log: Log, now = new Date()): Promise<string | undefined> {
  if (!existsSync(dataDir)) return undefined;
  await stopSurvivors(path.join(dataDir, 'pids.json'), log);
  const folder = asideOf(dataDir, now);
  renameSync(dataDir, folder);
  log(`The data of earlier starts is in ${path.basename(folder)} now, and this start begins without.`);
  return folder;
}

/** Returns `.data.<date>`, with a number if that folder exists. */
function asideOf(dataDir: string, now: Date): string {
  const folder = `${dataDir}.${now.toISOString().slice(0, 10)}`;
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? folder : `${folder}-${number}`;
    if (!existsSync(free)) return free;
  }
}

/** Adds the remedy to the error that the data is older than the first release. */
export function withWayOut(error: unknown, dataDir: string, databaseUrl: string | undefined) {
  if (!(error instanceof FormerData)) return error;
  const wayOut = databaseUrl
    ? 'Set DATABASE_URL to an empty database.'
    : `\`npm start -- --fresh\` moves it aside to ${path.basename(asideOf(dataDir, new Date()))} and starts without it.`;
  return new Error(`${error.message} ${wayOut}`, { cause: error });
}
