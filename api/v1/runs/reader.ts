import { z } from 'zod';
import { component } from '../../http/schemas.ts';
import * as runs from '#core/execution/runs/index.ts';
import { mayWriteRoutines, programOf } from '../../access.ts';
import { routesOf } from '../../route.ts';
import { presentRun } from './present.ts';
import { run, runParams } from './schemas.ts';

const route = routesOf('Runs');

const EMPTY = 'must not be empty';

export const giveVerdict = route('PUT /v1/runs/:runId/verdict', {
  id: 'giveVerdict',
  summary: 'Say whether a result was useful',
  description:
    'The verdict is stored with the run; the note is erased with the content of the run. Another verdict replaces it; the audit log names each writer.',
  scope: 'runs:write',
  params: runParams,
  body: component('GiveVerdict', { useful: z.boolean(), note: note(1_000).nullable().default(null) }),
  success: { data: run, description: 'The run.' },
  errors: ['run_not_finished', 'content_erased'],
}).to(async ({ access: { projectId }, by, params: { runId }, body, deps }) => ({
  data: presentRun(await runs.giveVerdict(deps.database, by, { projectId, id: runId, ...body })),
}));

export const followUpRun = route('POST /v1/runs/:runId/follow-up', {
  id: 'followUpRun',
  summary: 'Ask about a result',
  description:
    'A run with `trigger: follow_up` answers the message, with the version, tools and limits of the original run, and the result as data. This run is no proof and no result of the routine. It reaches no webhook and does not affect the schedule, but it counts towards budgets and the allowance. A message of a key without `routines:write` is data, not an instruction. A question about a follow-up joins its thread.',
  scope: 'runs:write',
  params: runParams,
  body: component('FollowUpRun', { message: note(4_000) }),
  idempotent: true,
  success: { status: 202, location: '/v1/runs/:id', data: run, description: 'The queued run.' },
  errors: [
    'run_not_finished',
    'run_without_result',
    'content_erased',
    'routine_archived',
    'version_not_found',
    'allowance_exceeded',
    'provider_disabled',
  ],
}).to(async ({ access, params: { runId }, body: { message }, deps, newId }) => {
  const { projectId, organizationId, plan } = access;
  const caller = { projectId, organizationId, plan, startedBy: programOf(access) };
  const input = { ...caller, id: newId('run'), runId, message, fenced: !mayWriteRoutines(access) };
  return { data: presentRun(await runs.startFollowUp(deps, input)) };
});

function note(most: number) {
  return z.string().min(1, EMPTY).max(most).regex(/\S/, EMPTY).trim();
}
