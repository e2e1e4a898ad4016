import { z } from 'zod';
import {
  activateRoutine,
  archiveRoutine,
  createRoutine,
  listRoutines,
  patchRoutine,
  pauseRoutine,
  readRoutine,
  rotateWebhookSecret,
  ROUTINE_STATES,
  type RoutineFields,
  type RoutinePatch,
} from '#core/routines/index.ts';
import { listReply } from '../../http/links.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { route } from '../../route.ts';
import {
  etagOf,
  presentDetail,
  presentRoutine,
  routine,
  routineBody,
  routineDetail,
  routineParams,
  routinePatch,
  savedRoutine,
} from './schemas.ts';

const tag = 'Routines';
const params = routineParams;
const notFound = 'routine_not_found';
const etag = { ETag: 'The version, for `If-Match` on PATCH.' };
const saveErrors = [
  'invalid_schedule',
  'invalid_timezone',
  'invalid_model',
  'invalid_skill',
  'invalid_variable',
  'invalid_webhook_url',
  'tool_policy_requires_connection',
  'models_unavailable',
] as const;

export const getRoutines = route({
  method: 'GET',
  path: '/v1/routines',
  id: 'listRoutines',
  tag,
  summary: 'List the routines of the project',
  auth: 'key-or-session',
  scope: 'routines:read',
  query: pageQuery({
    state: z.enum(ROUTINE_STATES).optional().meta({ description: 'Only those in this state.' }),
  }),
  success: { status: 200, data: z.array(routine), description: 'Newest first.' },
  errors: [],
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query, 'routine');
  const found = await listRoutines(deps.database, access.projectId, { state: query.state, page });
  return listReply(found, page, presentRoutine);
});

export const postRoutine = route({
  method: 'POST',
  path: '/v1/routines',
  id: 'createRoutine',
  tag,
  summary: 'Create a routine',
  description:
    'The routine is a draft until a manual run has succeeded and it is activated. With a webhook URL, the answer holds `webhookSecret`, once.',
  auth: 'key-or-session',
  scope: 'routines:write',
  body: routineBody,
  idempotent: true,
  success: { status: 201, data: savedRoutine, description: 'The draft.', headers: etag },
  errors: saveErrors,
}).to(async ({ access, body, deps, newId }) => {
  const id = newId('routine');
  const fields: RoutineFields = body;
  const saved = await createRoutine(deps, { id, projectId: access.projectId, fields });
  return { data: presentSaved(saved), headers: etagOf(saved.routine) };
});

export const getRoutine = route({
  method: 'GET',
  path: '/v1/routines/:routineId',
  id: 'readRoutine',
  tag,
  summary: 'Read a routine',
  auth: 'key-or-session',
  scope: 'routines:read',
  params,
  notFound,
  success: {
    status: 200,
    data: routineDetail,
    description: 'The routine with its next five times.',
    headers: etag,
  },
  errors: [notFound],
}).to(async ({ access, params: { routineId }, deps }) => {
  const found = await readRoutine(deps.database, access.projectId, routineId);
  return { data: presentDetail(found), headers: etagOf(found) };
});

export const patchRoutineById = route({
  method: 'PATCH',
  path: '/v1/routines/:routineId',
  id: 'updateRoutine',
  tag,
  summary: 'Change a routine',
  description:
    'A change of instructions, variables, model, skills (or their order) or limits is material: the routine goes back to draft and needs a fresh successful manual run. `limits` and `budget` are changed field by field. With `If-Match` the change is refused when someone else was faster.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  notFound,
  body: routinePatch,
  conditional: true,
  success: { status: 200, data: savedRoutine, description: 'The routine.', headers: etag },
  errors: [notFound, 'routine_archived', 'precondition_failed', ...saveErrors],
}).to(async ({ access, params: { routineId }, body, deps, ifMatch }) => {
  const saved = await patchRoutine(deps, {
    id: routineId,
    projectId: access.projectId,
    patch: withoutUndefined(body),
    expectedVersions: versionsOf(ifMatch),
  });
  return { data: presentSaved(saved), headers: etagOf(saved.routine) };
});

export const deleteRoutine = route({
  method: 'DELETE',
  path: '/v1/routines/:routineId',
  id: 'archiveRoutine',
  tag,
  summary: 'Archive a routine',
  description: 'It never runs again; its runs stay.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  notFound,
  success: { status: 200, data: routine, description: 'The archived routine.' },
  errors: [notFound],
}).to(async ({ access, params: { routineId }, deps }) => ({
  data: presentRoutine(await archiveRoutine(deps.database, access.projectId, routineId)),
}));

export const activate = route({
  method: 'POST',
  path: '/v1/routines/:routineId/activate',
  id: 'activateRoutine',
  tag,
  summary: 'Put a routine on its schedule',
  description: 'Needs a manual run that has succeeded since the last material change.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  notFound,
  success: { status: 200, data: routine, description: 'The active routine.' },
  errors: [notFound, 'successful_run_required', 'routine_archived', 'allowance_exceeded'],
}).to(async ({ access, params: { routineId }, deps }) => {
  const { projectId, organizationId, plan } = access;
  const active = await activateRoutine(deps.database, {
    id: routineId,
    projectId,
    organizationId,
    plan,
  });
  return { data: presentRoutine(active) };
});

export const pause = route({
  method: 'POST',
  path: '/v1/routines/:routineId/pause',
  id: 'pauseRoutine',
  tag,
  summary: 'Take a routine off its schedule',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  notFound,
  success: { status: 200, data: routine, description: 'The paused routine.' },
  errors: [notFound, 'routine_archived'],
}).to(async ({ access, params: { routineId }, deps }) => ({
  data: presentRoutine(await pauseRoutine(deps.database, access.projectId, routineId)),
}));

export const postWebhookSecret = route({
  method: 'POST',
  path: '/v1/routines/:routineId/webhook-secret',
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the webhook secret',
  description: 'For 24 hours deliveries are signed with the new secret and with the one before.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  notFound,
  success: { status: 200, data: savedRoutine, description: 'The routine with its new secret.' },
  errors: [notFound, 'routine_archived', 'webhook_not_configured'],
}).to(async ({ access, params: { routineId }, deps }) => ({
  data: presentSaved(await rotateWebhookSecret(deps, access.projectId, routineId)),
}));

function presentSaved(saved: Awaited<ReturnType<typeof createRoutine>>) {
  const { webhookSecret } = saved;
  return {
    ...presentRoutine(saved.routine),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  };
}

/** The versions that any of the listed tags names; a weak tag, or one we never gave out, matches nothing. */
function versionsOf(ifMatch: string | undefined): number[] | undefined {
  return ifMatch?.split(',').flatMap((tag) => {
    const version = /^"(\d{1,9})"$/.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Zod leaves `undefined` where a field was absent; a patch says nothing about absent fields. */
function withoutUndefined(body: z.output<typeof routinePatch>): RoutinePatch {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}
