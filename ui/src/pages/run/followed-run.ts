import { useReducer, useState } from 'react';
import type { FollowStatus } from '#ui/api/follow.ts';
import { useRead, type Loaded } from '#ui/api/read.ts';
import { useRunEvents, withPiece, type LiveText, type TextPiece } from '#ui/api/run-events.ts';
import type { Shape } from '#ui/api/types.ts';
import { asksForTools, isOver } from '#ui/format/run-words.ts';

type RunDetail = Shape<'RunDetail'>;

export interface FollowedRun {
  readonly run: Loaded<RunDetail>;
  /** State of the event stream; undefined while the run is not followed. */
  readonly status: FollowStatus | undefined;
  /** The text of the running model step. */
  readonly live: string | undefined;
}

const QUEUED_MS = 5_000;
const DELIVERING_MS = 2_000;
const ANSWERING_MS = 1_000;

/** Reads a run, and follows its events until it is over. Then reads the run again until its deliveries are done. */
export function useFollowedRun(runId: string): FollowedRun {
  const [everyMs, setEveryMs] = useState<number | false>(false);
  const [seen, dispatch] = useReducer(see, NOTHING_SEEN);
  const [status, setStatus] = useState<FollowStatus>();
  const read = useRead('/v1/runs/{runId}', { path: { runId } }, { everyMs });
  const run = read.data === undefined ? undefined : merge(read.data, seen);
  const wanted = run === undefined ? false : intervalOf(run);
  if (wanted !== everyMs) setEveryMs(wanted);

  const isOpen = run !== undefined && !isOver(run);
  useRunEvents(isOpen ? runId : undefined, {
    onStatus: (next) => {
      setStatus(next);
      if (next === 'ended') read.refetch();
    },
    onState: (next) => {
      dispatch({ kind: 'state', run: next });
      // Read the detail once the run has begun or ended: only the detail has deliveries, waiting time and links.
      if (next.state !== 'queued') read.refetch();
    },
    onStep: (step) => {
      dispatch({ kind: 'step', step });
      // Read the detail, which has the calls that the model asks for: events name only steps that are over.
      if (asksForTools(step)) read.refetch();
    },
    onText: (piece) => dispatch({ kind: 'text', piece }),
    onRead: (next) => dispatch({ kind: 'read', run: next }),
  });

  return {
    run: { ...read, data: run },
    status: isOpen ? status : undefined,
    live: isOpen ? seen.live?.text : undefined,
  };
}

/** Returns the interval for reading data that the events lack. */
function intervalOf(run: RunDetail): number | false {
  if (run.state === 'queued') return QUEUED_MS;
  if (run.followUps.some((each) => !isOver(each))) return ANSWERING_MS;
  const soon = Date.now() + 60_000;
  const isDelivering = [...run.webhookDeliveries, ...run.chatDeliveries].some(
    ({ state, nextAttemptAt }) =>
      state === 'sending' || (state === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) < soon)),
  );
  return isDelivering ? DELIVERING_MS : false;
}

type Run = Shape<'Run'>;
type Step = Shape<'Step'>;

/** State, steps and text from the events of a run since its detail was read. */
interface Seen {
  readonly run: Partial<RunDetail> | undefined;
  readonly steps: ReadonlyMap<number, Step>;
  readonly live: LiveText | undefined;
}

const NOTHING_SEEN: Seen = { run: undefined, steps: new Map(), live: undefined };

type Told =
  | { readonly kind: 'state'; readonly run: Run }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'text'; readonly piece: TextPiece }
  | { readonly kind: 'read'; readonly run: RunDetail };

function see(seen: Seen, told: Told): Seen {
  if (told.kind === 'state') return { ...seen, run: { ...seen.run, ...told.run } };
  if (told.kind === 'text') return { ...seen, live: withPiece(seen.live, told.piece) };
  if (told.kind === 'step') {
    return { ...seen, live: undefined, steps: new Map(seen.steps).set(told.step.index, told.step) };
  }
  return { live: undefined, run: told.run, steps: new Map(told.run.steps.map((step) => [step.index, step])) };
}

/** Merges a detail with later events. The detail of an ended run is final, so that no event changes it. */
function merge(detail: RunDetail, seen: Seen): RunDetail {
  const steps = new Map(detail.steps.map((step) => [step.index, step]));
  for (const [index, step] of seen.steps) {
    const known = steps.get(index);
    if (known === undefined || known.finishedAt === null) steps.set(index, step);
  }
  const ordered = [...steps.values()].toSorted((a, b) => a.index - b.index);
  const isNewer = seen.run?.state !== undefined && !isOver(detail);
  return { ...detail, ...(isNewer && isAtLeast(seen.run, detail) ? seen.run : {}), steps: ordered };
}

/** Returns false for an event that is older than the detail, because it must not show the run as queued again. */
function isAtLeast(told: Partial<RunDetail>, detail: RunDetail): boolean {
  return !(told.state === 'queued' && detail.state === 'running');
}
