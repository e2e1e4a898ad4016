import { z } from 'zod';
import * as skills from '#core/authoring/skills/index.ts';
import { present } from '../../http/present.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { anyId, component } from '../../http/schemas.ts';
import { shownName } from '../external-names.ts';
import { author } from '../routines/version-schemas.ts';

/** The fields of a custom skill that a caller sets. */
export const fields = {
  name: nameOf(100).meta({ example: 'House style' }),
  description: z.string().max(500).trim().nullable().optional(),
  instructions: z
    .string()
    .min(skills.MIN_INSTRUCTIONS)
    .max(skills.MAX_INSTRUCTIONS)
    .meta({
      description: `Appended verbatim to the routine's instructions at run time; ${skills.MIN_INSTRUCTIONS} to ${skills.MAX_INSTRUCTIONS} characters.`,
      example: 'Write in British English. Keep sentences short. Never use exclamation marks.',
    }),
};

const summaryShape = {
  id: anyId.nullable().describe('Id of a custom skill; null for a curated one.'),
  slug: z.string().nullable().describe('Slug of a curated skill; null for a custom one.'),
  ...shownName,
  formerly: z
    .array(z.string())
    .describe(
      'Slugs of curated skills that were folded into this one. The old slugs stay valid as names of this skill; empty for a custom skill.',
    ),
  name: z.string(),
  description: z.string().nullable(),
  category: z.string().nullable(),
  version: z.string().nullable(),
  needs: z
    .array(z.enum(skills.NEEDS))
    .describe('Kinds of data that the tools of a routine should offer; empty for a custom skill.'),
  cadence: z.enum(skills.CADENCES).nullable().describe('How often a curated skill is best run; null for a custom one.'),
  check: z
    .enum(skills.SCHEDULED)
    .nullable()
    .describe(
      'For a curated skill for one-off work (`on-demand`): how often its small check is worth a run. Otherwise null.',
    ),
  suggestedSchedule: z.string().nullable().meta({
    description: 'A suggested schedule for `cadence` or `check`; null without either.',
    example: '0 7 * * 1',
  }),
  checked: z.iso.date().nullable().describe('When the facts of a curated skill were last checked.'),
  sourceCount: z
    .number()
    .int()
    .describe('Number of sources of a curated skill’s facts. `GET /v1/skills/{skillId}` lists them.'),
  length: z.number().int().describe('Length of the instructions in characters.'),
  createdAt: timestamp.nullable(),
  updatedAt: timestamp.nullable(),
};

export const skillSummary = component('SkillSummary', summaryShape);

const source = z.strictObject({ name: z.string(), url: z.string(), backs: z.string() });

const inUse = z
  .array(component('SkillRevisionInUse', { revision: z.number().int(), routines: z.number().int() }))
  .describe('Number of active routines for each activated revision of a custom skill, the newest first.');

export const skill = component('Skill', {
  ...summaryShape,
  instructions: z.string(),
  revision: z.number().int().nullable().describe('Counts the changes of name and text; null for a curated skill.'),
  sources: z.array(source),
});

export const skillDetail = component('SkillDetail', { ...skill.shape, inUse });

export const skillRevision = component('SkillRevision', {
  revision: z.number().int(),
  name: z.string(),
  instructions: z.string(),
  createdBy: author
    .nullable()
    .describe('The person or the API key that made the revision; null when it is not on record.'),
  createdAt: timestamp,
  changed: z.array(z.enum(['name', 'instructions'])).meta({
    description: 'Differences from the revision before; empty for the first one.',
    example: ['instructions'],
  }),
});

export const params = z.strictObject({
  skillId: z
    .string()
    .regex(/^[a-z0-9_-]{1,80}$/)
    .meta({ description: 'Id of a custom skill, or slug of a curated one.', example: 'seo-audit' }),
});

/** The fields that only a curated skill has. */
const NOT_CURATED = {
  slug: null,
  formerly: [],
  category: null,
  version: null,
  needs: [],
  cadence: null,
  check: null,
  suggestedSchedule: null,
  checked: null,
  sourceCount: 0,
} as const;

export function summarizeCustom(row: Awaited<ReturnType<typeof skills.listCustomSkills>>[number]) {
  return present(skillSummary, { ...row, ...NOT_CURATED });
}

export function summarizeCurated(curated: skills.CuratedSkill) {
  return present(skillSummary, curatedRow(curated));
}

function curatedRow(curated: skills.CuratedSkill) {
  return {
    ...curated,
    id: null,
    externalKey: null,
    managedBy: null,
    managedFrom: null,
    driftedAt: null,
    driftedBy: null,
    suggestedSchedule: skills.suggestedSchedule(curated),
    sourceCount: curated.sources.length,
    length: curated.instructions.length,
    createdAt: null,
    updatedAt: null,
    revision: null,
  };
}

export function presentCustom(row: skills.CustomSkill) {
  const { length } = row.instructions;
  return present(skill, { ...row, ...NOT_CURATED, length, sources: [] });
}

export function presentCurated(curated: skills.CuratedSkill) {
  return present(skill, curatedRow(curated));
}

export function presentRevision(row: skills.SkillRevision) {
  return present(skillRevision, row);
}
