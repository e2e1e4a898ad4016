import type { Db } from '#lib/database/index.ts';
import type { RunState } from '#core/execution/run-states/index.ts';

/** Followers of one process that wait until the run which each follows moves on. */
export interface Watches {
  add(runId: string, signal: AbortSignal): Watch;
  /** Tells whether no follower waits. */
  isEmpty(): boolean;
  /** Waits a moment for something to look at: for a commit since the last look, or for followers that are new. */
  mayHaveMoved(db: Db): Promise<boolean>;
  /** Wakes the followers whose run has moved on. */
  look(db: Db): Promise<void>;
  /** Ends every watch. */
  close(): void;
}

export interface Watch {
  /**
   * Resolves with true when the run is further than `from`, with false when the watch has ended. The first call does
   * not wait, as a new follower has read nothing yet.
   */
  changed(from: RunCursor): Promise<boolean>;
}

/** Position of a follower: the number of steps it has been sent, and the last state. */
export interface RunCursor {
  readonly steps: number;
  readonly state: RunState | undefined;
}

/** A position in a run, with the followers that wait there. */
interface Place extends RunCursor {
  readonly runId: string;
  readonly followers: Set<() => void>;
}

export function createWatches(): Watches {
  const places = new Map<string, Place>();
  /** Counts the places that were ever added. */
  let added = 0;
  /** The snapshot of the last look, and what was added by then: no run has left its places within it. */
  let last = { snapshot: '', added };
  let closed = false;

  function wait(runId: string, { steps, state }: RunCursor, signal: AbortSignal): Promise<void> {
    const key = `${runId} ${steps} ${state}`;
    let place = places.get(key);
    if (place === undefined) {
      place = { runId, steps, state, followers: new Set() };
      places.set(key, place);
      added += 1;
    }
    const { followers } = place;
    return new Promise((resolve) => {
      followers.add(wake);
      signal.addEventListener('abort', wake, { once: true });

      function wake(): void {
        signal.removeEventListener('abort', wake);
        followers.delete(wake);
        if (followers.size === 0) places.delete(key);
        resolve();
      }
    });
  }

  function wakeAll({ followers }: Place): void {
    for (const wake of followers) wake();
  }

  return {
    add(runId, signal) {
      const isOver = () => closed || signal.aborted;
      let isNew = true;
      return {
        async changed(from) {
          if (!isNew && !isOver()) await wait(runId, from, signal);
          isNew = false;
          return !isOver();
        },
      };
    },
    isEmpty: () => places.size === 0,
    async mayHaveMoved(db) {
      return last.added !== added || last.snapshot !== (await nextCommit(db, last.snapshot));
    },
    async look(db) {
      const asked = { places: [...places.values()], added };
      const { snapshot, left } = await findLeft(db, asked.places);
      last = { snapshot, added: asked.added };
      for (const place of left) wakeAll(place);
    },
    close() {
      closed = true;
      for (const place of places.values()) wakeAll(place);
    },
  };
}

/** Longest wait for a commit. It is also the longest that a process which stops has to wait. */
const PATIENCE_MS = 250;

/**
 * Waits until a statement would see other transactions than in the snapshot `seen`, and returns what it would see.
 * While that stays the same nothing has been committed, so no run is read, which takes a hundred times as long for
 * 1,000 runs.
 */
async function nextCommit(db: Db, seen: string): Promise<string | undefined> {
  const found = await db.row<{
    snapshot: string;
  }>`select next_commit(${seen}, ${PATIENCE_MS}) as snapshot`;
  return found?.snapshot;
}

/**
 * Finds the places that their run has left: the step that would be sent next is finished, or the run is
 * in another state. All of this is read from rows that are written anyway, each by its primary key. A run that is under
 * way in a step leaves its state together with the step, so most runs are not read themselves.
 */
async function findLeft(
  db: Db,
  places: readonly Place[],
): Promise<{ readonly snapshot: string; readonly left: readonly Place[] }> {
  const found = await db.row<{ snapshot: string; left: number[] }>`
    with place as materialized (
      select n, run_id, at.state, (
          select steps.state from steps where steps.run_id = at.run_id and steps.index >= at.steps
          order by steps.index limit 1
        ) as step
      from unnest(
        ${arrayOf(places, 'runId')}::text[], ${arrayOf(places, 'steps')}::integer[],
        ${arrayOf(places, 'state')}::text[]
      ) with ordinality as at(run_id, steps, state, n)
    )
    select pg_current_snapshot()::text as snapshot, array(
      select n::integer from place
      where case
        when step not in ('pending', 'started') then true
        when step is not null and state = 'running' then false
        else (select runs.state <> place.state from runs where runs.id = place.run_id)
      end
    ) as "left"
  `;
  const { snapshot = '', left = [] } = found ?? {};
  return { snapshot, left: left.flatMap((n) => places[n - 1] ?? []) };
}

/** Writes an array as Postgres reads it. Ids, numbers and states need no quotes, and pg is slow to find that out. */
function arrayOf(places: readonly Place[], field: 'runId' | 'steps' | 'state'): string {
  return `{${places.map((place) => place[field] ?? 'none').join(',')}}`;
}
