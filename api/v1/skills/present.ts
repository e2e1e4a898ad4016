import * as skills from '#core/skills/index.ts';
import { iso } from '../../http/schemas.ts';
import { presentAuthor } from '../routines/version-schemas.ts';

export function summarizeCustom(row: skills.CustomSkillSummary) {
  return {
    id: row.id,
    slug: null,
    name: row.name,
    description: row.description,
    category: null,
    version: null,
    needs: [],
    cadence: null,
    suggestedSchedule: null,
    checked: null,
    sourceCount: 0,
    length: row.length,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export function summarizeCurated(curated: skills.CuratedSkill) {
  return {
    id: null,
    slug: curated.slug,
    name: curated.name,
    description: curated.description,
    category: curated.category,
    version: curated.version,
    needs: curated.needs,
    cadence: curated.cadence,
    suggestedSchedule: skills.SUGGESTED_SCHEDULES[curated.cadence],
    checked: curated.checked,
    sourceCount: curated.sources.length,
    length: curated.instructions.length,
    createdAt: null,
    updatedAt: null,
  };
}

export function presentCustom(row: skills.CustomSkill) {
  const { instructions, revision } = row;
  return {
    ...summarizeCustom({ ...row, length: instructions.length }),
    instructions,
    revision,
    sources: [],
  };
}

export function presentCurated(curated: skills.CuratedSkill) {
  return {
    ...summarizeCurated(curated),
    instructions: curated.instructions,
    revision: null,
    sources: curated.sources,
  };
}

export function presentRevision(row: skills.SkillRevision) {
  const { revision, name, instructions, createdBy, createdAt, changed } = row;
  return {
    revision,
    name,
    instructions,
    createdBy: createdBy === null ? null : presentAuthor(createdBy),
    createdAt: iso(createdAt),
    changed: [...changed],
  };
}
