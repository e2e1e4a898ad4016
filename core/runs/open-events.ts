import type { Db } from '#lib/database/index.ts';
import type { RunFeed } from './feed.ts';
import { followRun, readEventId, type RunEvent } from './follow.ts';
import { readRun } from './queries.ts';
import { isEndState } from './states.ts';

/**
 * Opens the events of a run after the one that `lastEventId` names, until `signal` aborts.
 * @returns undefined when that was the last event there will ever be
 * @throws {AppError} `run_not_found`
 */
export async function openRunEvents(
  { database, runFeed }: { readonly database: Db; readonly runFeed: RunFeed },
  run: { readonly projectId: string; readonly id: string },
  { lastEventId, signal }: { readonly lastEventId: string; readonly signal: AbortSignal },
): Promise<AsyncIterable<RunEvent> | undefined> {
  const after = readEventId(lastEventId);
  const { state } = await readRun(database, run.projectId, run.id);
  if (after.state === state && isEndState(state)) return undefined;
  return followRun(database, run, runFeed.watch(run.id, signal), after, signal);
}
