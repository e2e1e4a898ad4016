import type { Db } from '#lib/database/index.ts';
import { readRun } from '../queries.ts';
import { isEndState } from '../states.ts';
import type { RunFeed } from './feed.ts';
import { followRun, readEventId, type RunEvent } from './follow.ts';

export interface StreamRequest {
  /** Identity of the follower: streams are counted by API key or session, and by organization. */
  readonly follower: { readonly credential: string; readonly organizationId: string };
  readonly lastEventId: string;
  /** Ends the stream; if its reason is a `StreamEnd`, the follower is told so. */
  readonly signal: AbortSignal;
}

/**
 * Opens the events of a run after the one that `lastEventId` names, until `signal` aborts.
 * @returns undefined when that was the last event of all
 * @throws {AppError} `run_not_found`, `rate_limited`, `service_unavailable`
 */
export async function openRunEvents(
  { database, runFeed }: { readonly database: Db; readonly runFeed: RunFeed },
  run: { readonly projectId: string; readonly id: string },
  { follower, lastEventId, signal }: StreamRequest,
): Promise<AsyncIterable<RunEvent> | undefined> {
  const after = readEventId(lastEventId);
  const { state } = await readRun(database, run.projectId, run.id);
  if (after.state === state && isEndState(state)) return undefined;
  return followRun(await runFeed.follow(run, follower, signal), after, signal);
}
