import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/**
 * Holds the routine for the rest of the transaction, so that its policies change one at a time.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export async function holdRoutine(tx: Db, projectId: string, routineId: string): Promise<void> {
  const found = await row<{ state: string }>(
    tx,
    sql`select state from routines where id = ${routineId} and project_id = ${projectId} for no key update`,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  if (found.state === 'archived') throw new AppError('routine_archived');
}

/**
 * What a change of tools does to routines: it is material, so they go back to draft, lose their proof run and their
 * next time. `reason` is shown on the routine; null where a person made the change on the routine itself.
 * @returns the ids of those that were changed
 */
export async function returnToDraft(
  tx: Db,
  input: { projectId: string; routineIds: readonly string[]; reason: string | null },
): Promise<string[]> {
  if (input.routineIds.length === 0) return [];
  const changed = await rows<{ id: string }>(
    tx,
    sql`
      update routines set state = 'draft', state_reason = ${input.reason}, revision = revision + 1,
        next_run_at = null, version = version + 1, updated_at = now()
      where id = any(${input.routineIds}) and project_id = ${input.projectId} and state <> 'archived'
      returning id
    `,
  );
  return changed.map(({ id }) => id);
}
