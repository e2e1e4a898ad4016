import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';

type Run = Shape<'Run'>;
type RunDetail = Shape<'RunDetail'>;
type Step = Shape<'Step'>;

/** State and steps that the events of a run have brought since its detail was read. */
export interface Seen {
  readonly run: Partial<RunDetail> | undefined;
  readonly steps: ReadonlyMap<number, Step>;
}

export const NOTHING_SEEN: Seen = { run: undefined, steps: new Map() };

export type Told =
  | { readonly kind: 'state'; readonly run: Run }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'read'; readonly run: RunDetail };

export function see(seen: Seen, told: Told): Seen {
  if (told.kind === 'state') return { ...seen, run: { ...seen.run, ...told.run } };
  if (told.kind === 'step') {
    return { ...seen, steps: new Map(seen.steps).set(told.step.index, told.step) };
  }
  return { run: told.run, steps: new Map(told.run.steps.map((step) => [step.index, step])) };
}

/** Merges a detail with later events; once the detail itself says that the run is over, nothing is newer. */
export function merge(detail: RunDetail, seen: Seen): RunDetail {
  const steps = new Map(detail.steps.map((step) => [step.index, step]));
  for (const [index, step] of seen.steps) {
    const known = steps.get(index);
    if (known === undefined || known.finishedAt === null) steps.set(index, step);
  }
  const ordered = [...steps.values()].toSorted((a, b) => a.index - b.index);
  const isNewer = seen.run?.state !== undefined && !isOver(detail);
  return { ...detail, ...(isNewer && isAtLeast(seen.run, detail) ? seen.run : {}), steps: ordered };
}

/** Returns false for an event from before the detail was read, which must not take the run back to its queue. */
function isAtLeast(told: Partial<RunDetail>, detail: RunDetail): boolean {
  return !(told.state === 'queued' && detail.state === 'running');
}
