/** The part of a run by which its place among the others is found. */
export interface Placed {
  readonly id: string;
  readonly createdAt: string;
}

/** Lists the newest runs first that were created from one time on and before another, at most so many. */
export type ListRuns<Run extends Placed> = (
  since: string | undefined,
  until: string | undefined,
  limit: number,
) => Promise<readonly Run[]>;

const LIMIT = 200;
const HOUR_MS = 3_600_000;
/** Windows that are tried; the last of them reaches farther than any list. */
const MAX_WINDOWS = 24;

/** Finds the run before. Runs of a backfill have one time, so those of its own time are listed as well. */
export async function previousOf<Run extends Placed>(run: Placed, list: ListRuns<Run>): Promise<Run | undefined> {
  const until = later(run, 1);
  const [first, second] = await list(undefined, until, 2);
  if (first === undefined || isBefore(first, run)) return first;
  if (first.id === run.id) return second;
  const all = await list(undefined, until, LIMIT);
  return all[all.findIndex(({ id }) => id === run.id) + 1];
}

/**
 * Finds the run after. Lists begin with the newest run, so a window of time after the run is made larger until another
 * one lies in it, and smaller while more do than a list has room for.
 */
export async function nextOf<Run extends Placed>(
  run: Placed,
  list: ListRuns<Run>,
  now = Date.now(),
): Promise<Run | undefined> {
  let [reach, tooFar] = [HOUR_MS, Number.POSITIVE_INFINITY];
  for (let count = 0; count < MAX_WINDOWS; count += 1) {
    const found = await list(run.createdAt, later(run, reach), LIMIT);
    if (found.length === LIMIT && reach > 1) {
      tooFar = reach;
      reach = Math.max(1, Math.floor(reach / 8));
      continue;
    }
    const own = found.findIndex(({ id }) => id === run.id);
    // Of a run that is not in the list itself, all of them are later.
    const next = own === -1 ? found.at(-1) : found[own - 1];
    if (next !== undefined) return next;
    if (Date.parse(run.createdAt) + reach > now) return undefined;
    reach = Math.min(reach * 8, tooFar === Number.POSITIVE_INFINITY ? Infinity : (reach + tooFar) / 2);
  }
  return undefined;
}

/**
 * Finds a run of another list that is nearer than the neighbour that was found. Of more than a list has room for, the oldest
 * are passed over.
 */
export async function nearerOf<Run extends Placed>(
  run: Placed,
  { side, than }: { readonly side: 'before' | 'after'; readonly than: Run | undefined },
  list: ListRuns<Run>,
): Promise<Run | undefined> {
  const [first, last] = side === 'before' ? [than, run] : [run, than];
  const found = await list(first?.createdAt, last && later(last, 1), LIMIT);
  const between = found.filter(
    (each) => (first === undefined || follows(each, first)) && (last === undefined || follows(last, each)),
  );
  return (side === 'before' ? between[0] : between.at(-1)) ?? than;
}

/** Returns whether one run comes after another; ids begin with their time. */
function follows(one: Placed, other: Placed): boolean {
  const difference = Date.parse(one.createdAt) - Date.parse(other.createdAt);
  return difference === 0 ? one.id > other.id : difference > 0;
}

function later({ createdAt }: Placed, ms: number): string {
  return new Date(Date.parse(createdAt) + ms).toISOString();
}

function isBefore(one: Placed, other: Placed): boolean {
  return Date.parse(one.createdAt) < Date.parse(other.createdAt);
}
