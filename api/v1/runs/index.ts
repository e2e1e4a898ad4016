import { z } from 'zod';
import { readRoutine } from '#core/routines/index.ts';
import {
  enqueueManualRun,
  listRuns,
  readRunDetail,
  requestCancellation,
  retryRun,
  type EnqueuedRun,
} from '#core/runs/index.ts';
import { kickDelivery, redeliver } from '#core/webhooks/index.ts';
import type { ProjectAccess } from '../../access.ts';
import type { Deps } from '../../deps.ts';
import { listReply } from '../../http/links.ts';
import { EXAMPLE, idOf, pageOf } from '../../http/schemas.ts';
import { route } from '../../route.ts';
import { routineParams, variables } from '../routines/schemas.ts';
import { presentRun, presentRunDetail, run, runDetail, runParams, runQuery } from './schemas.ts';

const tag = 'Runs';
const params = runParams;
const notFound = 'run_not_found';

export const runRoutine = route({
  method: 'POST',
  path: '/v1/routines/:routineId/run',
  id: 'runRoutine',
  tag,
  summary: 'Start a manual run',
  description: 'The run is on record when this answers; it executes asynchronously.',
  auth: 'key-or-session',
  scope: 'runs:write',
  params: routineParams,
  notFound: 'routine_not_found',
  body: z.strictObject({ variables: variables.default({}) }),
  bodyOptional: true,
  idempotent: true,
  success: { status: 202, data: run, description: 'The queued run.' },
  errors: ['routine_not_found', 'routine_archived', 'invalid_variable', 'allowance_exceeded'],
}).to(async ({ access, params: { routineId }, body, deps, newId }) => {
  const queued = await enqueueManualRun(deps.database, {
    ...enqueueFor(access, newId('run')),
    routineId,
    variables: body.variables,
    retryOf: null,
  });
  return startAndPresent(deps, queued);
});

export const getRoutineRuns = route({
  method: 'GET',
  path: '/v1/routines/:routineId/runs',
  id: 'listRoutineRuns',
  tag,
  summary: 'List the runs of a routine',
  auth: 'key-or-session',
  scope: 'runs:read',
  params: routineParams,
  notFound: 'routine_not_found',
  query: runQuery,
  success: { status: 200, data: z.array(run), description: 'Newest first.' },
  errors: ['routine_not_found'],
}).to(async ({ access, params: { routineId }, query, deps }) => {
  await readRoutine(deps.database, access.projectId, routineId);
  return listPage(deps, access, { query, routineId });
});

export const getRuns = route({
  method: 'GET',
  path: '/v1/runs',
  id: 'listRuns',
  tag,
  summary: 'List the runs of the project',
  auth: 'key-or-session',
  scope: 'runs:read',
  query: runQuery,
  success: { status: 200, data: z.array(run), description: 'Newest first.' },
  errors: [],
}).to(({ access, query, deps }) => listPage(deps, access, { query, routineId: undefined }));

export const getRun = route({
  method: 'GET',
  path: '/v1/runs/:runId',
  id: 'readRun',
  tag,
  summary: 'Read a run with its steps, usage and webhook deliveries',
  auth: 'key-or-session',
  scope: 'runs:read',
  params,
  notFound,
  success: { status: 200, data: runDetail, description: 'The run.' },
  errors: [notFound],
}).to(async ({ access, params: { runId }, deps }) => ({
  data: presentRunDetail(await readRunDetail(deps.database, access.projectId, runId)),
}));

export const cancelRun = route({
  method: 'POST',
  path: '/v1/runs/:runId/cancel',
  id: 'cancelRun',
  tag,
  summary: 'Cancel a run',
  description:
    'A queued run is cancelled at once; one under way stops within seconds, in the middle of its model call.',
  auth: 'key-or-session',
  scope: 'runs:write',
  params,
  notFound,
  success: { status: 202, data: run, description: 'The run, cancelled or about to be.' },
  errors: [notFound, 'run_not_cancellable'],
}).to(async ({ access, params: { runId }, deps }) => {
  const asked = await requestCancellation(deps.database, access.projectId, runId);
  // One that was still queued is over at once; one that is running ends where it runs.
  if (asked.run.state === 'cancelled') deps.metrics.runEnded(asked.run);
  if (asked.delivery !== undefined) await kickDelivery(deps.engine, asked.delivery, deps.log);
  await deps.engine
    .cancelRun(runId)
    .catch((err: unknown) => deps.log.warn({ err, runId }, 'a tick will repeat the cancellation'));
  return { data: presentRun(asked.run) };
});

export const postRetry = route({
  method: 'POST',
  path: '/v1/runs/:runId/retry',
  id: 'retryRun',
  tag,
  summary: 'Run again with the same inputs',
  description: 'A new manual run of the routine as it is now, with the variables of this one.',
  auth: 'key-or-session',
  scope: 'runs:write',
  params,
  notFound,
  idempotent: true,
  success: { status: 202, data: run, description: 'The queued run.' },
  errors: [
    notFound,
    'routine_not_found',
    'run_not_finished',
    'routine_archived',
    'invalid_variable',
    'allowance_exceeded',
  ],
}).to(async ({ access, params: { runId }, deps, newId }) => {
  const queued = await retryRun(deps.database, { ...enqueueFor(access, newId('run')), runId });
  return startAndPresent(deps, queued);
});

export const postRedeliver = route({
  method: 'POST',
  path: '/v1/runs/:runId/webhook-deliveries/:deliveryId/redeliver',
  id: 'redeliverWebhook',
  tag,
  summary: 'Send a webhook delivery again',
  description: 'With the same `webhook-id` and body, and the whole ladder of retries anew.',
  auth: 'key-or-session',
  scope: 'runs:write',
  params: z.strictObject({
    runId: idOf('run', EXAMPLE.run),
    deliveryId: idOf('delivery', EXAMPLE.delivery),
  }),
  notFound: 'delivery_not_found',
  success: { status: 202, data: runDetail, description: 'The run with the delivery pending.' },
  errors: [notFound, 'delivery_not_found'],
}).to(async ({ access, params: { runId, deliveryId }, deps }) => {
  const { projectId } = access;
  const delivery = await redeliver(deps.database, { projectId, runId, deliveryId });
  await kickDelivery(deps.engine, delivery, deps.log);
  return { data: presentRunDetail(await readRunDetail(deps.database, projectId, runId)) };
});

function enqueueFor(access: ProjectAccess, id: string) {
  const { projectId, organizationId, plan } = access;
  return { id, projectId, organizationId, plan };
}

/** Starts the workflow; when Temporal cannot be reached the row stays queued and a tick starts it. */
async function startAndPresent(deps: Deps, { run, startable }: EnqueuedRun) {
  await deps.engine
    .startRun(startable)
    .catch((err: unknown) =>
      deps.log.warn({ err, runId: run.id }, 'a run stays queued until a tick can start it'),
    );
  return { data: presentRun(run) };
}

async function listPage(
  deps: Deps,
  access: ProjectAccess,
  { query, routineId }: { query: z.output<typeof runQuery>; routineId: string | undefined },
) {
  const page = pageOf(query, 'run');
  const { state, trigger, since, until } = query;
  const filter = { routineId, state, trigger, since, until, page };
  const found = await listRuns(deps.database, access.projectId, filter);
  return listReply(found, page, presentRun);
}
