import type { Db } from '#lib/database/index.ts';
import type { RunState } from '#core/execution/run-states/index.ts';

/** The followers of one process, each waiting until its run moves on. */
export interface Watches {
  add(runId: string, signal: AbortSignal): Watch;
  /** Tells whether no follower waits. */
  isEmpty(): boolean;
  /** Waits a moment for a reason to look again: a commit since the last look, or a new follower. */
  mayHaveMoved(db: Db): Promise<boolean>;
  /** Wakes the followers whose run has moved on. */
  look(db: Db): Promise<void>;
  /** Ends every watch. */
  close(): void;
}

export interface Watch {
  /**
   * Resolves with true when the run is further than `from`, with false when the watch has ended. The first call does
   * not wait: a new follower has read nothing yet.
   */
  changed(from: RunCursor): Promise<boolean>;
}

/** Position of a follower: the number of steps that it got, the last state, and a place in an unfinished text. */
export interface RunCursor {
  readonly steps: number;
  readonly state: RunState | undefined;
  /** Last piece of the next step's text that the follower has received. */
  readonly text: { readonly attempt: number; readonly piece: number };
}

export function keyOf({ steps, state, text: { attempt, piece } }: RunCursor): string {
  return `${steps} ${state} ${attempt} ${piece}`;
}

/** A position in a run, with the followers that wait there. */
interface Place extends RunCursor {
  readonly runId: string;
  readonly followers: Set<() => void>;
}

export function createWatches(): Watches {
  const places = new Map<string, Place>();
  /** Counts all places that were ever added. */
  let added = 0;
  /**
   * The snapshot of the last look, and the number of places added by then. In that snapshot no run had left these
   * places.
   */
  let last = { snapshot: '', added };
  let closed = false;

  function wait(runId: string, from: RunCursor, signal: AbortSignal): Promise<void> {
    const key = `${runId} ${keyOf(from)}`;
    let place = places.get(key);
    if (place === undefined) {
      place = { ...from, runId, followers: new Set() };
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

/** Longest wait for a commit, and so the longest that a stopping process waits. */
const PATIENCE_MS = 250;

/**
 * Waits for a commit, at most `PATIENCE_MS`, and returns the present snapshot. Without a commit no run needs to be
 * read: reading 1,000 runs costs a hundred times as much as the wait.
 */
function nextCommit(db: Db, seen: string): Promise<string> {
  return db.value<string>`select next_commit(${seen}, ${PATIENCE_MS})`;
}

/**
 * Finds the places that their runs have left: the next step has finished or has more text, or the state has changed.
 * While a step is under way, the state changes only together with the step, so most runs are not read.
 */
async function findLeft(
  db: Db,
  places: readonly Place[],
): Promise<{ readonly snapshot: string; readonly left: readonly Place[] }> {
  const found = await db.row<{ snapshot: string; left: number[] }>`
    with place as materialized (
      select n, run_id, at.state, at.steps, at.attempt, at.piece, (
          select steps.state from steps where steps.run_id = at.run_id and steps.index >= at.steps
          order by steps.index limit 1
        ) as step
      from unnest(
        ${arrayOf(places, ({ runId }) => runId)}::text[], ${arrayOf(places, ({ steps }) => steps)}::integer[],
        ${arrayOf(places, ({ state }) => state)}::text[], ${arrayOf(places, ({ text }) => text.attempt)}::integer[],
        ${arrayOf(places, ({ text }) => text.piece)}::integer[]
      ) with ordinality as at(run_id, steps, state, attempt, piece, n)
    )
    select pg_current_snapshot()::text as snapshot, array(
      select n::integer from place
      where case
        when step not in ('pending', 'started') then true
        when step is not null and state = 'running' then exists (
          select from live_texts t where t.run_id = place.run_id and t.step = place.steps
            and (t.attempt, t.piece) > (place.attempt, place.piece))
        else (select runs.state <> place.state from runs where runs.id = place.run_id)
      end
    ) as "left"
  `;
  const { snapshot = '', left = [] } = found ?? {};
  return { snapshot, left: left.flatMap((n) => places[n - 1] ?? []) };
}

/** Writes an array of Postgres. Ids, numbers and states need no quotes, and pg would check each of them slowly. */
function arrayOf(places: readonly Place[], valueOf: (place: Place) => string | number | undefined): string {
  return `{${places.map((place) => valueOf(place) ?? 'none').join(',')}}`;
}
