import { z } from 'zod';
import * as skills from '#core/skills/index.ts';
import { listReply } from '../http/links.ts';
import { iso, nameOf, pageOf, pageQuery, timestamp } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';

const fields = {
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
  id: z.string().nullable().meta({ description: 'Of a custom skill; null for a curated one.' }),
  slug: z.string().nullable().meta({ description: 'Of a curated skill; null for a custom one.' }),
  name: z.string(),
  description: z.string().nullable(),
  category: z.string().nullable(),
  version: z.string().nullable(),
  needs: z
    .array(z.enum(skills.NEEDS))
    .meta({ description: 'What the tools of a routine should offer; empty for a custom skill.' }),
  cadence: z
    .enum(skills.CADENCES)
    .nullable()
    .meta({ description: 'How often a curated skill is best run; null for a custom one.' }),
  suggestedSchedule: z
    .string()
    .nullable()
    .meta({ description: 'A schedule of that cadence, to begin with.', example: '0 7 * * 1' }),
  checked: z.iso
    .date()
    .nullable()
    .meta({ description: 'When the facts of a curated skill were last checked.' }),
  sourceCount: z.number().int().meta({
    description: 'How many sources those facts have; the skill itself lists them.',
  }),
  length: z.number().int().meta({ description: 'Characters of the instructions.' }),
  createdAt: timestamp.nullable(),
  updatedAt: timestamp.nullable(),
};
const skillSummary = z.strictObject(summaryShape).meta({ id: 'SkillSummary' });
const source = z.strictObject({ name: z.string(), url: z.string(), backs: z.string() });
const skill = z
  .strictObject({ ...summaryShape, instructions: z.string(), sources: z.array(source) })
  .meta({ id: 'Skill' });

const params = z.strictObject({
  skillId: z
    .string()
    .regex(/^[a-z0-9_-]{1,80}$/)
    .meta({ description: 'Id of a custom skill, or slug of a curated one.', example: 'seo-audit' }),
});

const listSkills = route({
  method: 'GET',
  path: '/v1/skills',
  id: 'listSkills',
  tag: 'Skills',
  summary: 'List the skills of the project and the curated ones',
  description:
    "The project's custom skills, newest first and paged; behind the last of them, on the last page, the curated catalogue.",
  auth: 'key-or-session',
  scope: 'routines:read',
  query: pageQuery('skill', {}),
  success: { status: 200, data: z.array(skillSummary), description: 'Without the instructions.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await skills.listCustomSkills(deps.database, access.projectId, page);
  const reply = listReply(found, page, summarizeCustom);
  const last = reply.nextCursor === undefined;
  return last
    ? { ...reply, data: [...reply.data, ...deps.skills.skills.map(summarizeCurated)] }
    : reply;
});

const createSkill = route({
  method: 'POST',
  path: '/v1/skills',
  id: 'createSkill',
  tag: 'Skills',
  summary: 'Create a custom skill',
  auth: 'key-or-session',
  scope: 'routines:write',
  body: z.strictObject(fields),
  idempotent: true,
  success: { status: 201, data: skill, description: 'The skill.' },
}).to(async ({ access, body, deps, newId }) => ({
  data: presentCustom(
    await skills.createSkill(deps.database, {
      id: newId('skill'),
      projectId: access.projectId,
      ...body,
      description: body.description ?? null,
    }),
  ),
}));

const readSkill = route({
  method: 'GET',
  path: '/v1/skills/:skillId',
  id: 'readSkill',
  tag: 'Skills',
  summary: 'Read a skill with its instructions',
  auth: 'key-or-session',
  scope: 'routines:read',
  params,
  success: { status: 200, data: skill, description: 'The skill.' },
}).to(async ({ access, params: { skillId }, deps }) => {
  const curated = deps.skills.find(skillId);
  if (curated !== undefined) return { data: presentCurated(curated) };
  return {
    data: presentCustom(await skills.readCustomSkill(deps.database, access.projectId, skillId)),
  };
});

const updateSkill = route({
  method: 'PATCH',
  path: '/v1/skills/:skillId',
  id: 'updateSkill',
  tag: 'Skills',
  summary: 'Change a custom skill',
  description:
    'The next run of each routine that has it attached uses the new text; the routines keep their state.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  body: z.strictObject(fields).partial(),
  success: { status: 200, data: skill, description: 'The skill.' },
}).to(async ({ access, params: { skillId }, body, deps }) => {
  const { name, description, instructions } = body;
  const updated = await skills.updateSkill(deps.database, {
    id: skillId,
    projectId: access.projectId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(instructions === undefined ? {} : { instructions }),
  });
  return { data: presentCustom(updated) };
});

const deleteSkill = route({
  method: 'DELETE',
  path: '/v1/skills/:skillId',
  id: 'deleteSkill',
  tag: 'Skills',
  summary: 'Delete a custom skill',
  description:
    'Routines that have it attached skip it from their next run on; those runs do not fail.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  success: { status: 200, data: skill, description: 'The skill that was deleted.' },
}).to(async ({ access, params: { skillId }, deps }) => ({
  data: presentCustom(await skills.deleteSkill(deps.database, access.projectId, skillId)),
}));

export const skillRoutes: readonly Route[] = [
  listSkills,
  createSkill,
  readSkill,
  updateSkill,
  deleteSkill,
];

function summarizeCustom(row: skills.CustomSkillSummary) {
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

function summarizeCurated(curated: skills.CuratedSkill) {
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

function presentCustom(row: skills.CustomSkill) {
  const { instructions } = row;
  return {
    ...summarizeCustom({ ...row, length: instructions.length }),
    instructions,
    sources: [],
  };
}

function presentCurated(curated: skills.CuratedSkill) {
  return {
    ...summarizeCurated(curated),
    instructions: curated.instructions,
    sources: curated.sources,
  };
}
