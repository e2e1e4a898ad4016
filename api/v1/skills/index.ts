import { z } from 'zod';
import * as skills from '#core/authoring/skills/index.ts';
import { withoutUndefined } from '#lib/json.ts';
import { etagOf, expectedBy, versionsIn } from '../../http/entity-tag.ts';
import { listReply } from '../../http/links.ts';
import { component, pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { keyParams, namedFields, nameFilters, putFields, renamedFields } from '../external-names.ts';
import {
  fields,
  params,
  presentCurated,
  presentCustom,
  presentRevision,
  skill,
  skillDetail,
  skillRevision,
  skillSummary,
  summarizeCurated,
  summarizeCustom,
} from './schemas.ts';

const route = routesOf('Skills');

const headers = { ETag: 'The version, for `If-Match` on PATCH and PUT.' };

const listSkills = route('GET /v1/skills', {
  id: 'listSkills',
  summary: 'List the skills of the project and the curated ones',
  description: "The project's custom skills, newest first, and then the curated catalogue. `limit` counts both.",
  mcp: { toolset: 'skills', view: ['id', 'slug', 'name', 'description', 'needs', 'cadence'] },
  scope: 'routines:read',
  query: pageQuery('skillOrSlug', nameFilters),
  success: { data: z.array(skillSummary), description: 'Without the instructions.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const { skills: catalogue } = deps.skills;
  const { externalKey, managedBy } = query;
  const isCurated = page.after?.startsWith('skl_') === false;
  const custom = isCurated
    ? []
    : await skills.listCustomSkills(deps.database, access.projectId, {
        externalKey,
        managedBy,
        page,
      });
  const seen = catalogue.findIndex(({ slug }) => slug === page.after);
  // Curated skills have neither a key nor a manager, so these filters leave them out.
  const isNamed = externalKey !== undefined || managedBy !== undefined;
  const rest = isNamed || (isCurated && seen === -1) ? [] : catalogue.slice(seen + 1);
  const rows = [
    ...custom.map((row) => ({ id: row.id, summary: summarizeCustom(row) })),
    ...(custom.length > page.limit ? [] : rest.map((row) => ({ id: row.slug, summary: summarizeCurated(row) }))),
  ];
  return listReply(rows.slice(0, page.limit + 1), page, ({ summary }) => summary);
});

const createSkill = route('POST /v1/skills', {
  id: 'createSkill',
  summary: 'Create a custom skill',
  mcp: { toolset: 'authoring', view: ['id', 'name', 'revision'] },
  scope: 'routines:write',
  body: z.strictObject({ ...fields, ...namedFields }),
  idempotent: true,
  success: { status: 201, location: '/v1/skills/:id', data: skill, description: 'The skill.', headers },
  errors: ['limit_reached', 'external_key_taken'],
}).to(async ({ access, by, body, deps, newId }) => {
  const created = await skills.createSkill(deps.database, by, {
    id: newId('skill'),
    projectId: access.projectId,
    ...body,
    description: body.description ?? null,
  });
  return { data: presentCustom(created), headers: etagOf(created) };
});

const readSkill = route('GET /v1/skills/:skillId', {
  id: 'readSkill',
  summary: 'Read a skill with its instructions',
  mcp: {
    toolset: 'skills',
    view: ['id', 'slug', 'name', 'description', 'version', 'needs', 'suggestedSchedule', 'instructions', 'revision'],
  },
  scope: 'routines:read',
  params,
  success: {
    data: skillDetail,
    description: 'The skill.',
    headers: { ETag: `${headers.ETag} That of a curated skill names its content.` },
  },
}).to(async ({ access, params: { skillId }, deps }) => {
  const curated = deps.skills.find(skillId);
  if (curated !== undefined) return { data: { ...presentCurated(curated), inUse: [] } };
  const { projectId } = access;
  const custom = await skills.readCustomSkill(deps.database, projectId, skillId);
  const inUse = await skills.revisionsInUse(deps.database, { projectId, id: skillId });
  const data = { ...presentCustom(custom), inUse: inUse.map((each) => ({ ...each })) };
  return { data, headers: etagOf(custom) };
});

const updateSkill = route('PATCH /v1/skills/:skillId', {
  id: 'updateSkill',
  summary: 'Change a custom skill',
  description:
    'Another name or text is a new revision. The next manual run of each routine with the skill uses the new revision. Scheduled runs of active routines keep the proven revision, until the routine is activated again after a successful manual run.',
  mcp: { toolset: 'authoring', view: ['id', 'name', 'revision'] },
  scope: 'routines:write',
  params,
  body: z.strictObject({ ...fields, ...renamedFields }).partial(),
  conditional: true,
  success: { data: skill, description: 'The skill.', headers },
  errors: ['precondition_failed', 'external_key_taken'],
}).to(async ({ access, by, params: { skillId }, body, deps, ifMatch }) => {
  const updated = await skills.updateSkill(deps.database, by, {
    id: skillId,
    projectId: access.projectId,
    patch: withoutUndefined(body),
    expectedVersions: versionsIn(ifMatch),
  });
  return { data: presentCustom(updated), headers: etagOf(updated) };
});

const putSkill = route('PUT /v1/skills/by-key/:externalKey', {
  id: 'putSkill',
  summary: 'Create or replace a custom skill by its external key',
  description:
    'If no skill has the key, one is created. Otherwise the fields are replaced, as by PATCH; the same fields change nothing. `If-Match` refuses a skill that has changed meanwhile or does not exist, `If-None-Match: *` one that exists.',
  scope: 'routines:write',
  params: keyParams,
  body: component('PutSkill', { ...fields, ...putFields }),
  conditional: 'create',
  success: { data: skill, description: 'The skill.', headers },
  errors: ['limit_reached', 'precondition_failed'],
}).to(async ({ access, by, params: { externalKey }, body, deps, newId, ...conditions }) => {
  const put = await skills.putSkill(deps.database, by, {
    id: newId('skill'),
    projectId: access.projectId,
    fields: { ...body, externalKey, description: body.description ?? null },
    isExpected: expectedBy(conditions),
  });
  return { data: presentCustom(put), headers: etagOf(put) };
});

const deleteSkill = route('DELETE /v1/skills/:skillId', {
  id: 'deleteSkill',
  summary: 'Delete a custom skill',
  description: 'Routines with the skill leave it out from their next run on; those runs do not fail.',
  scope: 'routines:write',
  params,
  success: { data: skill, description: 'The skill that was deleted.' },
}).to(async ({ access, by, params: { skillId }, deps }) => ({
  data: presentCustom(await skills.deleteSkill(deps.database, by, access.projectId, skillId)),
}));

const listSkillRevisions = route('GET /v1/skills/:skillId/revisions', {
  id: 'listSkillRevisions',
  summary: 'List the revisions of a custom skill',
  description: `Each revision has its whole text, and names the changed fields. The newest ${skills.KEPT_REVISIONS} are kept, and older ones that a routine, its proof or a kept run refers to.`,
  scope: 'routines:read',
  params,
  query: pageQuery('revision', {}),
  success: { data: z.array(skillRevision), description: 'Newest first.' },
}).to(async ({ access: { projectId }, params: { skillId }, query, deps }) => {
  await skills.readCustomSkill(deps.database, projectId, skillId);
  const page = pageOf(query);
  const found = await skills.listRevisions(deps.database, { projectId, id: skillId }, page);
  const rows = found.map((row) => ({ ...row, id: String(row.revision) }));
  return listReply(rows, page, presentRevision);
});

export const skillRoutes: readonly Route[] = [
  listSkills,
  createSkill,
  readSkill,
  updateSkill,
  putSkill,
  deleteSkill,
  listSkillRevisions,
];
