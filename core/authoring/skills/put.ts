import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '#core/foundation/audit/index.ts';
import type { Database } from '#lib/database/index.ts';
import { putByKey, type IsExpected } from '#lib/external-keys.ts';
import { createSkill, findSkillByKey, updateSkill, type CustomSkill, type SkillFields } from './custom.ts';

/**
 * Creates a custom skill with an external key, or changes the skill that has the key. Writes nothing without a change.
 * @throws {AppError} `precondition_failed`, `limit_reached`
 */
export function putSkill(
  database: Database,
  by: Actor,
  input: {
    /** Id of the skill if it is created. */
    id: string;
    projectId: string;
    fields: SkillFields & { readonly externalKey: string };
    isExpected: IsExpected;
  },
): Promise<CustomSkill> {
  const { id, projectId, fields, isExpected } = input;
  return putByKey({
    find: () => findSkillByKey(database, projectId, fields.externalKey),
    isExpected,
    create: () => createSkill(database, by, { id, projectId, ...fields }),
    async change(found) {
      const isAsKept = isDeepStrictEqual({ ...found, ...fields }, { ...found });
      if (isAsKept && found.driftedAt === null) return found;
      return updateSkill(database, by, {
        id: found.id,
        projectId,
        patch: fields,
        expectedVersions: [found.version],
        isPut: true,
      });
    },
  });
}
