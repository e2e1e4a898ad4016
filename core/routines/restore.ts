import type { Actor } from '#core/audit/index.ts';
import { AppError } from '#lib/errors.ts';
import { readRoutine } from './queries.ts';
import { patchRoutine, type SaveDeps, type SavedRoutine } from './save.ts';
import { definitionForm } from './stored-definition.ts';
import { readVersion } from './versions.ts';

/**
 * Gives a routine everything material of one of its versions again, as a new revision that nobody has proven yet. The
 * tools of its connections stay as they are confirmed now. A version that is the present one changes nothing.
 * @throws {AppError} `routine_not_found`, `version_not_found`, `routine_archived`, and what `checkRoutine` throws
 */
export async function restoreVersion(
  deps: SaveDeps,
  input: { id: string; projectId: string; revision: number; by: Actor },
): Promise<SavedRoutine> {
  const { id, projectId, by } = input;
  await readRoutine(deps.database, projectId, id);
  const version = await readVersion(deps.database, { id, projectId }, input.revision);
  if (version.blocked !== null) throw new AppError('definition_unreadable', version.blocked);
  return patchRoutine(deps, {
    id,
    projectId,
    patch: definitionForm.pick(version),
    expectedVersions: undefined,
    origin: { actor: by.id, restoredFrom: version.revision },
    by,
  });
}
