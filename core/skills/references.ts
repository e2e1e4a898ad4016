import type { Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';
import type { SkillCatalogue } from './catalogue.ts';
import { findCustomSkills } from './custom.ts';

/** What a run appends for one attached skill. */
export interface AttachedSkill {
  readonly reference: string;
  readonly name: string;
  readonly instructions: string;
}

/**
 * The texts behind a routine's references, in the routine's order: curated slugs first looked up in the catalogue,
 * everything else among the project's custom skills. A reference with nothing behind it any more is left out.
 */
export async function resolveSkills(
  db: Db,
  catalogue: SkillCatalogue,
  projectId: string,
  references: readonly string[],
): Promise<AttachedSkill[]> {
  const customIds = references.filter((reference) => catalogue.find(reference) === undefined);
  const custom = await findCustomSkills(db, projectId, customIds);
  return references.flatMap((reference) => {
    const skill = catalogue.find(reference) ?? custom.find(({ id }) => id === reference);
    return skill === undefined
      ? []
      : [{ reference, name: skill.name, instructions: skill.instructions }];
  });
}

/** @throws {AppError} `invalid_skill` naming each unknown reference with its place */
export async function assertSkillsExist(
  db: Db,
  catalogue: SkillCatalogue,
  projectId: string,
  references: readonly string[],
): Promise<void> {
  const resolved = await resolveSkills(db, catalogue, projectId, references);
  const known = new Set(resolved.map(({ reference }) => reference));
  const faults = references.flatMap((reference, index) =>
    known.has(reference)
      ? []
      : [{ path: `skills[${index}]`, message: `no skill with the slug or id ${show(reference)}` }],
  );
  if (faults.length > 0) throw invalid(faults, 'invalid_skill');
}

function show(reference: string): string {
  return JSON.stringify(reference.length > 60 ? `${reference.slice(0, 60)}…` : reference);
}
