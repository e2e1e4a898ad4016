import { findChanges, readItems, type Changes, type Items } from '#core/authoring/outcomes/index.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { assertEndedWithContent, readRun } from './queries.ts';
import { runColumns, type Run } from './run.ts';

/** The complete difference between the data of two runs of a routine. */
interface RunDiff extends Changes {
  readonly runId: string;
  /** The earlier run; null if everything is new. */
  readonly against: string | null;
}

/**
 * Compares the data of a run with the data of another run of the routine. Items are matched by the key of the first
 * run.
 * @param input.against undefined for the run that the first was compared with when it ended
 * @throws {AppError} `run_not_found`, `run_not_finished`, `run_without_data`, `content_erased`, and `invalid_request`
 * when the other run belongs to another routine, or its data has no items by that key
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
  if (against === null) return { runId: run.id, against, ...findChanges(new Map(), after, by) };
  const earlier = await readRun(db, input.projectId, against);
  if (earlier.routineId !== run.routineId) throw refused('not a run of the same routine');
  changesOf(earlier);
  return { runId: run.id, against, ...findChanges(itemsOf(earlier, by), after, by) };
}

/** Returns the changes of a run with data. Every run with data has recorded changes. */
function changesOf(run: Run): NonNullable<Run['changes']> {
  assertEndedWithContent(run);
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

/**
 * Stores a reader's opinion of a run's result. The run names the last writer; the audit log has all writers.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased`
 */
export function giveVerdict(
  database: Database,
  by: Actor,
  input: { projectId: string; id: string; useful: boolean; note: string | null },
): Promise<Run> {
  const { projectId, id, useful, note } = input;
  return transaction(database, async (tx) => {
    const before = await tx.row<Pick<Run, 'state' | 'contentErasedAt'>>`
      select state, content_erased_at as "contentErasedAt" from runs
      where id = ${id} and project_id = ${projectId} for no key update
    `;
    if (before === undefined) throw new AppError('run_not_found');
    assertEndedWithContent(before);
    const run = await tx.row<Run>`
      update runs set verdict = jsonb_build_object('useful', ${useful}::boolean, 'note', ${note}::text,
        'by', ${by.id}::text, 'at', now())
      where id = ${id} and project_id = ${projectId}
      returning ${runColumns}
    `;
    if (run === undefined) throw new AppError('run_not_found');
    const details = { routineId: run.routineId, useful };
    await recordProjectAudit(tx, { by, projectId, action: 'run.judged', targetId: id, details });
    return run;
  });
}
