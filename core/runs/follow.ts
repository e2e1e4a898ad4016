import { persistently, type Db } from '#lib/database/index.ts';
import type { RunWatch } from './feed.ts';
import { listSteps, readRun } from './queries.ts';
import type { Run, Step } from './run.ts';
import { isEndState, RUN_STATES, type RunState } from './states.ts';

export type RunEvent =
  | { readonly event: 'state'; readonly id: string; readonly data: Run }
  | { readonly event: 'step'; readonly id: string; readonly data: Step };

/** The position of a follower: the number of steps it has been sent, and the last state. */
export interface RunCursor {
  readonly steps: number;
  readonly state: RunState | undefined;
}

/**
 * Yields the events of a run from `after` on: each state that it is found in, and each step in order once it is
 * finished. The run's final state comes last. Events are read from the tables, so a follower that reconnects misses
 * nothing. While Postgres is away it waits, until `signal` aborts.
 */
export async function* followRun(
  db: Db,
  run: { readonly projectId: string; readonly id: string },
  watch: RunWatch,
  after: RunCursor,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  let sent = after;
  while (await watch.changed()) {
    const { steps: known } = sent;
    const [found, steps] = await persistently(
      // The run is read first, so that all steps of the state that was read are there.
      async () => [
        await readRun(db, run.projectId, run.id),
        await listSteps(db, run.projectId, run.id, known - 1),
      ],
      signal,
    );
    const ended = isEndState(found.state);
    if (!ended && found.state !== sent.state) {
      sent = { ...sent, state: found.state };
      yield { event: 'state', id: eventId(sent), data: found };
    }
    for (const step of steps) {
      if (!ended && (step.state === 'pending' || step.state === 'started')) break;
      sent = { ...sent, steps: step.index + 1 };
      yield { event: 'step', id: eventId(sent), data: step };
    }
    if (!ended) continue;
    sent = { ...sent, state: found.state };
    yield { event: 'state', id: eventId(sent), data: found };
    return;
  }
}

function eventId({ steps, state }: RunCursor): string {
  return `${steps}.${state ?? 'unknown'}`;
}

/** Parses the id of an event; with any other text the follower starts from the beginning. */
export function readEventId(id: string): RunCursor {
  const [, steps, name] = /^(\d{1,6})\.([a-z]+)$/.exec(id) ?? [];
  if (steps === undefined) return { steps: 0, state: undefined };
  return { steps: Number(steps), state: RUN_STATES.find((state) => state === name) };
}
