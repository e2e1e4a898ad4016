import { z } from 'zod';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { variables } from '#core/authoring/definition/index.ts';
import { redeliver } from '#core/delivery/webhooks/index.ts';
import * as runs from '#core/execution/runs/index.ts';
import { waitForRunEnd } from '#core/execution/run-events/index.ts';
import { credentialId, mayWriteRoutines, type ProjectAccess, programOf } from '../../access.ts';
import type { Deps } from '../../deps.ts';
import { instant } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { component, idOf, pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { routineParams } from '../routines/fields.ts';
import { backfillRoutine, forecastBackfill } from './backfill.ts';
import { followRun, readRunEvent } from './events.ts';
import { followUpRun, giveVerdict } from './reader.ts';
import { sharedLinkRoutes } from './links.ts';
import { listRecentRuns } from './recent.ts';
import { presentRun, presentRunDetail, presentRunSummary } from './present.ts';
import { RUN_VIEW, run, runDetail, runParams, runQuery, runSummary } from './schemas.ts';
import { runDiff } from './result-schema.ts';
import { presentStep, step } from './step-schema.ts';

const route = routesOf('Runs');
const SUMMARIES =
  'Newest first, without variables and with the beginning of each result. A page with `q` looks at 1,000 runs: it may have fewer runs than its limit, or none, although another page follows.';

const runRoutine = route('POST /v1/routines/:routineId/run', {
  id: 'runRoutine',
  summary: 'Start a manual run',
  description:
    'The response comes once the run is recorded; the run itself is asynchronous. With `runAt` the run stays queued until then (`waitingFor` is `run_at`), and starts at most a minute later. The run executes the present version, even if the routine is changed meanwhile; archiving the routine skips the run. Values of variables act as instructions if the caller may write routines; values of a key without `routines:write` reach the model as data. `overridable` of the routine lists the variables that may be given. The run can be cancelled, and counts towards the allowance when it is accepted. With `mode: rehearse` the run is a rehearsal (`trigger: rehearsal`): it calls only tools that their servers declare read-only. Every other call is checked and recorded, and a stand-in answers it; `wouldHaveDone` of the run lists these calls. A rehearsal proves nothing, is no result of the routine, reaches no webhook, mail or chat, and leaves the schedule alone.',
  mcp: { toolset: 'routines', view: ['id', 'routineId', 'state', 'outcome', 'result'] },
  scope: 'runs:write',
  params: routineParams,
  body: z.strictObject({
    variables: variables.default({}),
    runAt: instant.optional().describe('When the run starts: in the future, within a year.'),
    mode: z.enum(['run', 'rehearse']).describe('`rehearse` calls no tool that may write.').default('run'),
  }),
  bodyOptional: true,
  idempotent: true,
  success: { status: 202, location: '/v1/runs/:id', data: run, description: 'The queued run.' },
  errors: ['routine_archived', 'invalid_variable', 'limit_reached', 'allowance_exceeded', 'provider_disabled'],
}).to(async ({ access, params: { routineId }, body, deps, newId }) => {
  const { variables: values, runAt = null, mode } = body;
  const id = newId('run');
  const valuesFenced = !mayWriteRoutines(access);
  const input = {
    ...starterOf(access),
    id,
    routineId,
    variables: values,
    valuesFenced,
    runAt,
    rehearses: mode === 'rehearse',
  };
  return { data: presentRun(await runs.starts.startManualRun(deps, input)) };
});

const listRoutineRuns = route('GET /v1/routines/:routineId/runs', {
  id: 'listRoutineRuns',
  summary: 'List the runs of a routine',
  scope: 'runs:read',
  params: routineParams,
  query: runQuery,
  success: { data: z.array(runSummary), description: SUMMARIES },
}).to(async ({ access, params: { routineId }, query, deps }) => {
  await readRoutine(deps.database, access.projectId, routineId);
  return listPage(deps, access, { ...query, routineId });
});

const listRuns = route('GET /v1/runs', {
  id: 'listRuns',
  summary: 'List the runs of the project',
  mcp: {
    toolset: 'runs',
    view: [
      'id',
      'routineId',
      'routineName',
      'trigger',
      'state',
      'reason',
      'errorMessage',
      'outcome',
      'outcomeSummary',
      'resultPreview',
      'createdAt',
      'finishedAt',
    ],
  },
  scope: 'runs:read',
  query: runQuery.extend({
    routineId: idOf('routine').optional().describe('Runs of this routine only.'),
  }),
  success: { data: z.array(runSummary), description: SUMMARIES },
}).to(({ access, query, deps }) => listPage(deps, access, query));

const readRun = route('GET /v1/runs/:runId', {
  id: 'readRun',
  summary: 'Read a run with its steps, usage and webhook deliveries',
  description:
    'With `Prefer: wait=N` the response comes when the run has ended, or after N seconds with its present state. A waiting request counts as an event stream, with the same limits.',
  mcp: { toolset: 'runs', view: RUN_VIEW },
  scope: 'runs:read',
  params: runParams,
  waits: true,
  success: { data: runDetail, description: 'The run.' },
}).to(async ({ access, params: { runId }, deps, wait }) => {
  const { projectId, organizationId } = access;
  const follower = { credential: credentialId(access), organizationId };
  await wait?.((signal) => waitForRunEnd(deps, { projectId, id: runId }, { follower, signal }));
  return {
    data: presentRunDetail(await runs.readRunDetail(deps, projectId, runId), deps.config),
  };
});

const listRunSteps = route('GET /v1/runs/:runId/steps', {
  id: 'listRunSteps',
  summary: 'List the steps of a run',
  description:
    'The steps in order, with all texts. A page ends before its limit when its texts have 4,000,000 characters.',
  scope: 'runs:read',
  params: runParams,
  query: pageQuery('step', {}),
  success: { data: z.array(step), description: 'A page of steps.' },
}).to(async ({ access: { projectId }, params: { runId }, query, deps }) => {
  const found = await runs.listSteps(deps.database, { projectId, runId }, pageOf(query));
  return { data: found.steps.map(presentStep), nextCursor: found.nextCursor };
});

const diffRun = route('GET /v1/runs/:runId/diff', {
  id: 'diffRun',
  summary: 'Compare the data of two runs',
  description: 'Compares by the `resultKey` of the run. Unlike `changes` of the run, the response has every item.',
  mcp: { toolset: 'runs' },
  scope: 'runs:read',
  params: runParams,
  query: z.strictObject({
    against: idOf('run')
      .optional()
      .describe(
        'Another run of the routine, earlier or later; by default the run with which this one was compared at its end.',
      ),
  }),
  success: { data: runDiff, description: 'The differences.' },
  errors: ['run_not_finished', 'run_without_data', 'content_erased'],
}).to(async ({ access: { projectId }, params: { runId }, query: { against }, deps }) => ({
  data: present(runDiff, await runs.diffRun(deps.database, { projectId, id: runId, against })),
}));

const updateRun = route('PATCH /v1/runs/:runId', {
  id: 'updateRun',
  summary: 'Pin a run, or unpin it',
  description: `A pinned run keeps its content beyond the retention of its project, until it is unpinned. A project can have ${runs.keeping.MAX_PINNED} pinned runs.`,
  scope: 'runs:write',
  params: runParams,
  body: component('UpdateRun', { pinned: z.boolean() }),
  success: { data: run, description: 'The run.' },
  errors: ['allowance_exceeded'],
}).to(async ({ access: { projectId }, by, params: { runId }, body: { pinned }, deps }) => ({
  data: presentRun(await runs.keeping.pinRun(deps.database, by, { projectId, id: runId, pinned })),
}));

const cancelRun = route('POST /v1/runs/:runId/cancel', {
  id: 'cancelRun',
  summary: 'Cancel a run',
  description:
    'A queued run is cancelled at once; a running one stops within seconds, in the middle of its model call.',
  mcp: { toolset: 'runs', view: ['id', 'routineId', 'state', 'cancelRequestedAt'] },
  scope: 'runs:write',
  params: runParams,
  success: { status: 202, data: run, description: 'The run, cancelled or about to be.' },
  errors: ['run_not_cancellable'],
}).to(async ({ access, params: { runId }, deps }) => ({
  data: presentRun(await runs.cancelRun(deps, access.projectId, runId)),
}));

const retryRun = route('POST /v1/runs/:runId/retry', {
  id: 'retryRun',
  summary: 'Run again with the same inputs',
  description:
    'Starts a new manual run of the present routine, with the variables of this run. For a follow-up it asks the question again.',
  mcp: { toolset: 'runs', view: ['id', 'routineId', 'state', 'retryOf'] },
  scope: 'runs:write',
  params: runParams,
  idempotent: true,
  success: { status: 202, location: '/v1/runs/:id', data: run, description: 'The queued run.' },
  errors: [
    'routine_not_found',
    'run_not_finished',
    'content_erased',
    'routine_archived',
    'invalid_variable',
    'allowance_exceeded',
    'provider_disabled',
  ],
}).to(async ({ access, params: { runId }, deps, newId }) => {
  const input = { ...starterOf(access), id: newId('run'), runId };
  return { data: presentRun(await runs.retryRun(deps, input)) };
});

const redeliverWebhook = route('POST /v1/runs/:runId/webhook-deliveries/:deliveryId/redeliver', {
  id: 'redeliverWebhook',
  summary: 'Send a webhook delivery again',
  description: 'The delivery keeps its `webhook-id` and body, and gets all retries again.',
  scope: 'runs:write',
  params: z.strictObject({
    runId: idOf('run'),
    deliveryId: idOf('delivery'),
  }),
  idempotent: true,
  success: { status: 202, data: runDetail, description: 'The run. The delivery is pending again.' },
  errors: ['content_erased', 'routine_archived'],
}).to(async ({ access: { projectId }, params, deps }) => {
  await redeliver(deps, { projectId, ...params });
  return { data: presentRunDetail(await runs.readRunDetail(deps, projectId, params.runId), deps.config) };
});

export const runRoutes: readonly Route[] = [
  runRoutine,
  backfillRoutine,
  forecastBackfill,
  listRoutineRuns,
  listRuns,
  listRecentRuns,
  readRun,
  readRunEvent,
  listRunSteps,
  diffRun,
  updateRun,
  followRun,
  cancelRun,
  retryRun,
  giveVerdict,
  followUpRun,
  redeliverWebhook,
  ...sharedLinkRoutes,
];

function starterOf(access: ProjectAccess) {
  const { projectId, organizationId, plan } = access;
  return { projectId, organizationId, plan, startedBy: programOf(access) };
}

async function listPage(
  { database }: Deps,
  { projectId }: ProjectAccess,
  query: z.output<typeof runQuery> & { readonly routineId?: string | undefined },
) {
  const { found, nextCursor } = await runs.listRuns(database, projectId, { ...query, page: pageOf(query) });
  return { data: found.map(presentRunSummary), nextCursor };
}
