import type { Actor } from '#core/audit/index.ts';
import { readRoutine } from './queries.ts';
import { patchRoutine, type SaveDeps, type SavedRoutine } from './save.ts';
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
  const { instructions, variables, model, skills, limits, carryResult, builtInTools } = version;
  const { outcome, checks, resultSchema, resultKey, gate, overridable } = version;
  const told = { instructions, variables, model, skills, limits, carryResult, builtInTools };
  return patchRoutine(deps, {
    id,
    projectId,
    patch: { ...told, outcome, checks, resultSchema, resultKey, gate, overridable },
    expectedVersions: undefined,
    origin: { actor: by.id, restoredFrom: version.revision },
    by,
  });
}
