import type { Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';
import type { SkillCatalogue } from './catalogue.ts';
import { findCustomSkills, findCustomSummaries } from './custom.ts';
import { findProvenSkills, type SkillRevisions } from './revisions.ts';

/** A skill in the form in which a run adds it to the prompt. */
export interface AttachedSkill {
  readonly reference: string;
  readonly name: string;
  readonly instructions: string;
  /** Revision of the text of a custom skill; null for a curated skill. */
  readonly revision: number | null;
}

/**
 * Resolves a routine's references in their order: curated slugs in the catalogue, all other references among the
 * project's custom skills. A reference to a deleted skill is left out.
 * @param revisions of the custom skills: the newest, or the ones that a run has proven
 */
export async function resolveSkills(
  db: Db,
  catalogue: SkillCatalogue,
  projectId: string,
  references: readonly string[],
  revisions: SkillRevisions | 'newest',
): Promise<AttachedSkill[]> {
  const customIds = references.filter((reference) => catalogue.find(reference) === undefined);
  const custom =
    revisions === 'newest'
      ? await findCustomSkills(db, projectId, customIds)
      : await findProvenSkills(db, projectId, customIds, revisions);
  return distinct(catalogue, references).flatMap((reference) => {
    const curated = catalogue.find(reference);
    const own = curated === undefined ? custom.find(({ id }) => id === reference) : undefined;
    const skill = curated ?? own;
    if (skill === undefined) return [];
    const { name, instructions } = skill;
    return [{ reference, name, instructions, revision: own?.revision ?? null }];
  });
}

/** Returns the revisions of the custom skills among the attached skills, in the form that a run records. */
export function revisionsOf(skills: readonly AttachedSkill[]): NonNullable<SkillRevisions> {
  return Object.fromEntries(
    skills.flatMap(({ reference, revision }) => (revision === null ? [] : [[reference, revision]])),
  );
}

export function skillSection({ name, instructions }: Pick<AttachedSkill, 'name' | 'instructions'>): string {
  return `${headingOf(name)}${instructions}`;
}

/** Size of a skill, for counting a prompt without rendering it. */
export interface SkillSize {
  readonly name: string;
  readonly length: number;
}

export function sectionLength({ name, length }: SkillSize): number {
  return headingOf(name).length + length;
}

function headingOf(name: string): string {
  return `## Skill: ${name}\n\n`;
}

/**
 * Returns the sizes of the referenced skills.
 * @param attached references that are left out if their skill is gone
 * @throws {AppError} `invalid_skill` that names each unknown reference outside of `attached`, with its place
 */
export async function measureSkills(
  db: Db,
  catalogue: SkillCatalogue,
  projectId: string,
  references: readonly string[],
  { attached, skillLengths }: MeasuredOtherwise,
): Promise<SkillSize[]> {
  const customIds = references.filter((reference) => catalogue.find(reference) === undefined);
  const custom = await findCustomSummaries(db, projectId, customIds);
  const found = references.map((reference, index) => {
    const curated = catalogue.find(reference);
    const length = skillLengths.get(reference);
    if (length !== undefined) return { reference, index, size: { name: reference, length } };
    const size =
      curated === undefined
        ? custom.find(({ id }) => id === reference)
        : { name: curated.name, length: curated.instructions.length };
    return { reference, index, size };
  });
  const faults = found.flatMap(({ reference, index, size }) =>
    size !== undefined || attached.includes(reference)
      ? []
      : [{ path: `skills[${index}]`, message: `no skill with the slug or id ${show(reference)}` }],
  );
  if (faults.length > 0) throw invalid(faults, 'invalid_skill');
  const told = distinct(catalogue, references);
  return found.flatMap(({ reference, size }) => (size === undefined || !told.includes(reference) ? [] : [size]));
}

interface MeasuredOtherwise {
  /** References that were attached before. A deleted skill among them does not block the change. */
  readonly attached: readonly string[];
  /** Lengths of custom skills that are about to be written, by reference. */
  readonly skillLengths: ReadonlyMap<string, number>;
}

/** Returns the references that name neither a curated skill nor a custom skill of the project. */
export async function missingSkills(
  db: Db,
  catalogue: SkillCatalogue,
  projectId: string,
  references: readonly string[],
): Promise<string[]> {
  const customIds = references.filter((reference) => catalogue.find(reference) === undefined);
  const custom = await findCustomSummaries(db, projectId, customIds);
  return customIds.filter((reference) => !custom.some(({ id }) => id === reference));
}

function distinct(catalogue: SkillCatalogue, references: readonly string[]): string[] {
  const slugs = references.map((reference) => catalogue.find(reference)?.slug ?? reference);
  return references.filter((_, index) => slugs.indexOf(slugs[index] ?? '') === index);
}

function show(reference: string): string {
  return JSON.stringify(reference.length > 60 ? `${reference.slice(0, 60)}…` : reference);
}
