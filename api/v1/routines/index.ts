import { z } from 'zod';
import * as routines from '#core/authoring/routines/index.ts';
import { warnOfForecast } from '#core/execution/forecast/index.ts';
import type { SkillCatalogue } from '#core/authoring/skills/index.ts';
import { withoutUndefined } from '#lib/json.ts';
import { actorId, type ProjectAccess } from '../../access.ts';
import type { Deps } from '../../deps.ts';
import { listReply } from '../../http/links.ts';
import { etagOf, expectedBy, versionsIn } from '../../http/entity-tag.ts';
import { pageOf, pageQuery, searchedIn } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { keyParams, nameFilters } from '../external-names.ts';
import { deliveryOf } from '../settings-schemas.ts';
import { actionRoutes } from './actions.ts';
import { etag, listed, putBody, saveErrors, routineBody, routinePatch } from './requests.ts';
import { draftRoutes } from './draft.ts';
import { CHANGED_ROUTINE, routineParams } from './fields.ts';
import { forecastRoutes } from './forecast.ts';
import { presentDetail, presentRoutine, presentRoutineSummary, presentSaved } from './present.ts';
import { previewRoutes } from './preview.ts';
import { proposalRoutes } from './proposals.ts';
import { createdRoutine, routine, routineDetail, routineSummary, savedRoutine } from './responses.ts';
import { versionRoutes } from './versions.ts';

const route = routesOf('Routines');
const params = routineParams;

const listRoutines = route('GET /v1/routines', {
  id: 'listRoutines',
  summary: 'List the routines of the project',
  mcp: {
    toolset: 'routines',
    view: ['id', 'name', 'state', 'stateReason', 'schedule', 'timezone', 'nextRunAt', 'lastRunAt'],
  },
  scope: 'routines:read',
  query: pageQuery('routine', {
    q: searchedIn('the name'),
    state: z.enum(routines.ROUTINE_STATES).optional().describe('Only routines in this state.'),
    stateChangedBy: z
      .enum(['service', 'person'])
      .optional()
      .describe(
        '`service`: only routines whose state the service itself changed last, with the reason in `stateReason`. `person`: only routines whose state a person or an API key changed last.',
      ),
    sendsResults: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        '`true`: only routines that send results, to a `webhookUrl`, a `successPingUrl`, or people and chats of `resultsTo`. `false`: only routines that send none.',
      ),
    uses: z
      .string()
      .regex(/^[a-z0-9_-]{1,80}$/)
      .optional()
      .meta({
        description:
          'Only routines that use this skill (id or slug), connection (by an automatic tool), or model account.',
        example: 'seo-audit',
      }),
    ...nameFilters,
  }),
  success: {
    data: z.array(routineSummary),
    description: 'Newest first, without instructions, variables and `resultSchema`.',
  },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await routines.listRoutines(deps.database, access.projectId, {
    q: query.q,
    state: query.state,
    stateChangedBy: query.stateChangedBy,
    uses: query.uses === undefined ? undefined : namesOf(query.uses, deps.skills),
    sendsResults: query.sendsResults === undefined ? undefined : query.sendsResults === 'true',
    externalKey: query.externalKey,
    managedBy: query.managedBy,
    page,
  });
  return listReply(found, page, presentRoutineSummary);
});

const createRoutine = route('POST /v1/routines', {
  id: 'createRoutine',
  summary: 'Create a routine',
  description:
    'The routine is a draft until a manual run has succeeded and it is activated. With a webhook URL, the response has `webhookSecret`, only once: a response that is repeated under its `Idempotency-Key` lacks it, so rotate the secret if the first one was lost.',
  mcp: {
    toolset: 'routines',
    view: [...CHANGED_ROUTINE, 'warnings'],
    note: 'The routine is a draft until it has run once and is activated',
  },
  scope: 'routines:write',
  body: routineBody,
  idempotent: true,
  shownOnce: ['webhookSecret'],
  success: {
    status: 201,
    location: '/v1/routines/:id',
    data: createdRoutine,
    description: 'The draft.',
    headers: etag,
  },
  errors: ['limit_reached', ...saveErrors],
}).to(async ({ access, body, deps, newId }) => {
  const id = newId('routine');
  const fields: Parameters<typeof routines.createRoutine>[1]['fields'] = body;
  const saved = await routines.createRoutine(deps, {
    id,
    projectId: access.projectId,
    fields,
    actor: actorId(access),
  });
  return { data: presentSaved(saved), headers: etagOf(saved.routine) };
});

const readRoutine = route('GET /v1/routines/:routineId', {
  id: 'readRoutine',
  summary: 'Read a routine',
  mcp: { toolset: 'routines' },
  scope: 'routines:read',
  params,
  success: {
    data: routineDetail,
    description:
      'The routine with its next five times, its obstacles to activation, the tools that it may call, and warnings.',
    headers: etag,
  },
}).to(async ({ access, params: { routineId }, deps }) => {
  const { projectId, organizationId, plan } = access;
  const found = await routines.readRoutineDetail(deps, {
    id: routineId,
    projectId,
    organizationId,
    plan,
  });
  return { data: presentDetail(found, deliveryOf(deps)), headers: etagOf(found) };
});

const updateRoutine = route('PATCH /v1/routines/:routineId', {
  id: 'updateRoutine',
  summary: 'Change a routine',
  description: `A change of ${listed('or')} is material: the routine goes back to draft and needs a fresh successful manual run, and its scheduled runs that have not begun are skipped as \`superseded\`. \`limits\`, \`budget\` and \`notifications\` are changed field by field. With \`If-Match\` the change is refused if someone else has changed the routine meanwhile.`,
  mcp: {
    toolset: 'routines',
    view: [...CHANGED_ROUTINE, 'warnings'],
    note: 'Takes the fields of create_routine; a change of the routine’s work makes the routine a draft again',
  },
  scope: 'routines:write',
  params,
  body: routinePatch,
  conditional: true,
  success: { data: savedRoutine, description: 'The routine.', headers: etag },
  errors: ['routine_archived', 'definition_unreadable', 'precondition_failed', ...saveErrors],
}).to(async ({ access, by, params: { routineId }, body, deps, ifMatch }) => {
  const saved = await routines.patchRoutine(deps, {
    id: routineId,
    projectId: access.projectId,
    patch: withoutUndefined(body),
    expectedVersions: versionsIn(ifMatch),
    origin: { actor: by.id },
    by,
  });
  const isPaced = SCHEDULING.some((field) => body[field] !== undefined);
  return replyOfSaved(saved, isPaced, { access, deps });
});

const putRoutine = route('PUT /v1/routines/by-key/:externalKey', {
  id: 'putRoutine',
  summary: 'Create or replace a routine by its external key',
  description: `The body is a whole routine: missing fields take their defaults. If no routine has the key, one is created as a draft, and with a webhook URL the response has \`webhookSecret\`. Otherwise the fields are replaced, as by PATCH; the same fields change nothing. Archived routines have no key. \`If-Match\` refuses a routine that has changed meanwhile or does not exist, \`If-None-Match: *\` one that exists.`,
  scope: 'routines:write',
  params: keyParams,
  body: putBody,
  conditional: 'create',
  success: { data: savedRoutine, description: 'The routine.', headers: etag },
  errors: ['limit_reached', 'definition_unreadable', 'precondition_failed', ...saveErrors],
}).to(async ({ access, by, params: { externalKey }, body, deps, newId, ...conditions }) => {
  const fields: Parameters<typeof routines.putRoutine>[1]['fields'] = { ...body, externalKey };
  const saved = await routines.putRoutine(deps, {
    id: newId('routine'),
    projectId: access.projectId,
    fields,
    isExpected: expectedBy(conditions),
    by,
  });
  return replyOfSaved(saved, true, { access, deps });
});

/** Responds with a saved routine. When it is active and may run more often now, the forecast adds warnings. */
async function replyOfSaved(
  saved: Awaited<ReturnType<typeof routines.patchRoutine>>,
  isPaced: boolean,
  { access, deps }: { access: ProjectAccess; deps: Deps },
) {
  const { routine: row } = saved;
  const warnings = [...saved.warnings];
  if (row.state === 'active' && isPaced) {
    const proven = await routines.readRoutine(deps.database, row.projectId, row.id);
    warnings.push(...(await warnOfForecast(deps, { ...access, routine: proven })));
  }
  return { data: presentSaved({ ...saved, warnings }), headers: etagOf(row) };
}

/** Fields that change how often an active routine runs, and when. */
const SCHEDULING = ['schedule', 'timezone', 'startsAt', 'endsAt', 'skipDates', 'budget'] as const;

const archiveRoutine = route('DELETE /v1/routines/:routineId', {
  id: 'archiveRoutine',
  summary: 'Archive a routine',
  description: 'The routine runs no more until it is restored. Its runs stay; those that have not begun are `skipped`.',
  mcp: { toolset: 'routines', view: CHANGED_ROUTINE, destructive: true },
  scope: 'routines:write',
  params,
  success: { data: routine, description: 'The archived routine.' },
}).to(async ({ access, by, params: { routineId }, deps }) => ({
  data: presentRoutine(
    await routines.stopRoutine(deps, by, { projectId: access.projectId, id: routineId, state: 'archived' }),
  ),
}));

export const routineRoutes: readonly Route[] = [
  ...draftRoutes,
  listRoutines,
  createRoutine,
  readRoutine,
  updateRoutine,
  putRoutine,
  archiveRoutine,
  ...actionRoutes,
  ...versionRoutes,
  ...proposalRoutes,
  ...forecastRoutes,
  ...previewRoutes,
];

function namesOf(reference: string, { find }: SkillCatalogue): [string, ...string[]] {
  const skill = find(reference);
  return skill === undefined ? [reference] : [skill.slug, ...skill.formerly];
}
