import { z } from 'zod';
import {
  createSkill,
  deleteSkill,
  listCustomSkills,
  MAX_INSTRUCTIONS,
  MIN_INSTRUCTIONS,
  readCustomSkill,
  updateSkill,
  type CuratedSkill,
  type CustomSkill,
} from '#core/skills/index.ts';
import { AppError } from '#lib/errors.ts';
import { idPattern } from '#lib/ids.ts';
import { listReply } from '../http/links.ts';
import { iso, nameOf, pageOf, pageQuery, timestamp } from '../http/schemas.ts';
import { route } from '../route.ts';

const fields = {
  name: nameOf(100).meta({ example: 'House style' }),
  description: z.string().trim().max(500).nullable().optional(),
  instructions: z
    .string()
    .min(MIN_INSTRUCTIONS)
    .max(MAX_INSTRUCTIONS)
    .meta({
      description: `Appended verbatim to the routine's instructions at run time; ${MIN_INSTRUCTIONS} to ${MAX_INSTRUCTIONS} characters.`,
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
  length: z.number().int().meta({ description: 'Characters of the instructions.' }),
  createdAt: timestamp.nullable(),
  updatedAt: timestamp.nullable(),
};
const skillSummary = z.strictObject(summaryShape).meta({ id: 'SkillSummary' });
const skill = z.strictObject({ ...summaryShape, instructions: z.string() }).meta({ id: 'Skill' });

const params = z.strictObject({
  skillId: z
    .string()
    .regex(/^[a-z0-9_-]{1,80}$/)
    .meta({ description: 'Id of a custom skill, or slug of a curated one.', example: 'seo-audit' }),
});

export const getSkills = route({
  method: 'GET',
  path: '/v1/skills',
  id: 'listSkills',
  tag: 'Skills',
  summary: 'List the skills of the project and the curated ones',
  description:
    "The project's custom skills, newest first and paged; behind the last of them, on the last page, the curated catalogue.",
  auth: 'key-or-session',
  scope: 'routines:read',
  query: pageQuery({}),
  success: { status: 200, data: z.array(skillSummary), description: 'Without the instructions.' },
  errors: [],
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query, 'skill');
  const found = await listCustomSkills(deps.database, access.projectId, page);
  const reply = listReply(found, page, summarizeCustom);
  const last = reply.nextCursor === undefined;
  return last
    ? { ...reply, data: [...reply.data, ...deps.skills.skills.map(summarizeCurated)] }
    : reply;
});

export const postSkill = route({
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
  errors: [],
}).to(async ({ access, body, deps, newId }) => ({
  data: presentCustom(
    await createSkill(deps.database, {
      id: newId('skill'),
      projectId: access.projectId,
      ...body,
      description: body.description ?? null,
    }),
  ),
}));

export const getSkill = route({
  method: 'GET',
  path: '/v1/skills/:skillId',
  id: 'readSkill',
  tag: 'Skills',
  summary: 'Read a skill with its instructions',
  auth: 'key-or-session',
  scope: 'routines:read',
  params,
  notFound: 'skill_not_found',
  success: { status: 200, data: skill, description: 'The skill.' },
  errors: ['skill_not_found'],
}).to(async ({ access, params: { skillId }, deps }) => {
  const curated = deps.skills.find(skillId);
  if (curated !== undefined) return { data: presentCurated(curated) };
  assertCustomId(skillId);
  return { data: presentCustom(await readCustomSkill(deps.database, access.projectId, skillId)) };
});

export const patchSkill = route({
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
  notFound: 'skill_not_found',
  body: z.strictObject(fields).partial(),
  success: { status: 200, data: skill, description: 'The skill.' },
  errors: ['skill_not_found'],
}).to(async ({ access, params: { skillId }, body, deps }) => {
  assertCustomId(skillId);
  const { name, description, instructions } = body;
  const updated = await updateSkill(deps.database, {
    id: skillId,
    projectId: access.projectId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(instructions === undefined ? {} : { instructions }),
  });
  return { data: presentCustom(updated) };
});

export const removeSkill = route({
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
  notFound: 'skill_not_found',
  success: { status: 200, data: skill, description: 'The skill that was deleted.' },
  errors: ['skill_not_found'],
}).to(async ({ access, params: { skillId }, deps }) => {
  assertCustomId(skillId);
  return { data: presentCustom(await deleteSkill(deps.database, access.projectId, skillId)) };
});

function assertCustomId(skillId: string): void {
  if (!idPattern('skill').test(skillId)) throw new AppError('skill_not_found');
}

function summarizeCustom(row: CustomSkill) {
  return {
    id: row.id,
    slug: null,
    name: row.name,
    description: row.description,
    category: null,
    version: null,
    length: row.instructions.length,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

function summarizeCurated(curated: CuratedSkill) {
  return {
    id: null,
    slug: curated.slug,
    name: curated.name,
    description: curated.description,
    category: curated.category,
    version: curated.version,
    length: curated.instructions.length,
    createdAt: null,
    updatedAt: null,
  };
}

function presentCustom(row: CustomSkill) {
  return { ...summarizeCustom(row), instructions: row.instructions };
}

function presentCurated(curated: CuratedSkill) {
  return { ...summarizeCurated(curated), instructions: curated.instructions };
}
