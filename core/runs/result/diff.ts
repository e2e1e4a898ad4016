import { findChanges, readItems, type Changes, type Items } from '#core/outcomes/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { readRun } from '../queries.ts';
import type { Run } from '../run.ts';
import { isEndState } from '../states.ts';

/** The complete difference between the data of two runs of a routine. */
export interface RunDiff extends Changes {
  readonly runId: string;
  /** The earlier run; null where everything is new. */
  readonly against: string | null;
}

/**
 * Compares the data of a run with that of another one, by its own key.
 * @param input.against undefined for the run that it was compared with when it ended
 * @throws {AppError} `run_not_found`, `run_not_finished`, `run_without_data`, `content_erased`, and `invalid_request`
 * where the other run is not one of the same routine, or its data has no items by that key
 */
export async function diffRun(
  db: Db,
  input: { projectId: string; id: string; against: string | undefined },
): Promise<RunDiff> {
  const run = await readRun(db, input.projectId, input.id);
  const changes = changesOf(run);
  const { by } = changes;
  const against = input.against ?? changes.against;
  const after = itemsOf(run, by);
  if (against === null) {
    return { runId: run.id, against, ...findChanges(new Map(), after, by) };
  }
  const earlier = await readRun(db, input.projectId, against);
  if (earlier.routineId !== run.routineId) throw refused('not a run of the same routine');
  changesOf(earlier);
  return { runId: run.id, against, ...findChanges(itemsOf(earlier, by), after, by) };
}

/** Returns the recorded changes of a run; every run with data has them. */
function changesOf(run: Run): NonNullable<Run['changes']> {
  if (!isEndState(run.state)) throw new AppError('run_not_finished');
  if (run.contentErasedAt !== null) throw new AppError('content_erased');
  if (run.changes === null) throw new AppError('run_without_data');
  return run.changes;
}

function itemsOf({ data }: Run, by: Changes['by']): Items {
  const read = readItems(data, by);
  if (!read.ok) throw refused(read.issue);
  return read.items;
}

function refused(message: string): AppError {
  return invalid([{ path: 'against', message }]);
}
