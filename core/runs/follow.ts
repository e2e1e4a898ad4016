import { persistently, type Db } from '#lib/database/index.ts';
import type { RunWatch } from './feed.ts';
import { listSteps, readRun } from './queries.ts';
import type { Run, Step } from './run.ts';
import { isEndState, RUN_STATES, type RunState } from './states.ts';

export type RunEvent =
  | { readonly event: 'state'; readonly id: string; readonly data: Run }
  | { readonly event: 'step'; readonly id: string; readonly data: Step };

/** How far a follower has come: the steps it has been told of, and the last state. */
export interface RunCursor {
  readonly steps: number;
  readonly state: RunState | undefined;
}

/**
 * Tells of a run from `after` on: each state that it is found in, and each step, in order, once it is finished. The
 * run's final state comes last. What is told is read from the tables, so nothing is lost between two followings. A
 * Postgres that is away is waited for until `signal` aborts.
 */
export async function* followRun(
  db: Db,
  run: { readonly projectId: string; readonly id: string },
  watch: RunWatch,
  after: RunCursor,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  let told = after;
  while (await watch.changed()) {
    const { steps: known } = told;
    const [found, steps] = await persistently(
      // The run first: the steps of a state that was read are then all there.
      async () => [
        await readRun(db, run.projectId, run.id),
        await listSteps(db, run.projectId, run.id, known - 1),
      ],
      signal,
    );
    const ended = isEndState(found.state);
    if (!ended && found.state !== told.state) {
      told = { ...told, state: found.state };
      yield { event: 'state', id: eventId(told), data: found };
    }
    for (const step of steps) {
      if (!ended && (step.state === 'pending' || step.state === 'started')) break;
      told = { ...told, steps: step.index + 1 };
      yield { event: 'step', id: eventId(told), data: step };
    }
    if (!ended) continue;
    told = { ...told, state: found.state };
    yield { event: 'state', id: eventId(told), data: found };
    return;
  }
}

function eventId({ steps, state }: RunCursor): string {
  return `${steps}.${state ?? 'unknown'}`;
}

/** Reads an event's id back; anything else is a follower who begins anew. */
export function readEventId(id: string): RunCursor {
  const [, steps, name] = /^(\d{1,6})\.([a-z]+)$/.exec(id) ?? [];
  if (steps === undefined) return { steps: 0, state: undefined };
  return { steps: Number(steps), state: RUN_STATES.find((state) => state === name) };
}
