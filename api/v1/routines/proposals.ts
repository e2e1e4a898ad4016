import { proposals } from '#core/authoring/routines/index.ts';
import { proofs } from '#core/execution/runs/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { withoutUndefined } from '#lib/json.ts';
import { programOf } from '../../access.ts';
import { versionsIn } from '../../http/entity-tag.ts';
import { present } from '../../http/present.ts';
import { component, idOf } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { renamedFields } from '../external-names.ts';
import { routineParams } from './fields.ts';
import { presentWarnings } from './present.ts';
import { routinePatch, saveErrors } from './requests.ts';
import { proposal, startedProposal } from './responses.ts';

const route = routesOf('Routines');
const params = routineParams.extend({ proposalId: idOf('proposal') });

const body = component('ProposeChange', {
  patch: routinePatch.describe('The fields that change, at least one of them material. External names cannot change.'),
});

const createProposal = route('POST /v1/routines/:routineId/proposals', {
  id: 'createProposal',
  summary: 'Try a change of an active routine',
  description:
    'Saves the change as a separate version and starts a manual run with it. When the run succeeds, the change is taken over and the routine stays active; scheduled runs of the former version that have not begun are skipped as `superseded`. Until then the schedule runs the former version. The change is dropped if the run fails, is cancelled or does only a part of the work, or if the routine is changed, paused or archived meanwhile. Only one change is tried at a time: another one gets 409 `proposal_open`, with the address of the first as `Location`. A key needs `runs:write` too.',
  scope: 'routines:write',
  params: routineParams,
  body,
  conditional: true,
  idempotent: true,
  shownOnce: ['webhookSecret'],
  success: {
    status: 202,
    location: '/v1/routines/:routineId/proposals/:id',
    data: startedProposal,
    description: 'The proposal. Its run has been recorded.',
  },
  errors: [
    'insufficient_scope',
    'routine_archived',
    'routine_not_active',
    'proposal_open',
    'definition_unreadable',
    'precondition_failed',
    'allowance_exceeded',
    'provider_disabled',
    ...saveErrors.filter((code) => code !== 'external_key_taken'),
  ],
}).to(async ({ access, by, params: { routineId }, body: { patch }, deps, ifMatch, newId }) => {
  const { projectId, organizationId, plan, actor } = access;
  if (actor.kind !== 'session' && !actor.scopes.includes('runs:write')) throw new AppError('insufficient_scope');
  const given = withoutUndefined(patch);
  const names = Object.keys(given).filter((name) => name in renamedFields);
  if (names.length > 0) {
    throw invalid(
      names.map((name) => ({
        path: `patch.${name}`,
        message: 'only PATCH of the routine changes this',
      })),
    );
  }
  const opened = await proofs.startProposal(deps, {
    id: newId('proposal'),
    routineId,
    projectId,
    organizationId,
    plan,
    startedBy: programOf(access),
    runId: newId('run'),
    patch: given,
    expectedVersions: versionsIn(ifMatch),
    by,
  });
  const { warnings, webhookSecret } = opened;
  return {
    data: {
      ...present(proposal, opened.proposal),
      warnings: presentWarnings(warnings),
      ...(webhookSecret === undefined ? {} : { webhookSecret }),
    },
  };
});

const readProposal = route('GET /v1/routines/:routineId/proposals/:proposalId', {
  id: 'readProposal',
  summary: 'Read a proposal',
  description: 'Only the latest proposal of a routine is kept; the routine shows it too.',
  scope: 'routines:read',
  params,
  success: { data: proposal, description: 'The proposal.' },
}).to(async ({ access: { projectId }, params: { routineId, proposalId: id }, deps }) => ({
  data: present(proposal, await proposals.readProposal(deps.database, { projectId, routineId, id })),
}));

const deleteProposal = route('DELETE /v1/routines/:routineId/proposals/:proposalId', {
  id: 'deleteProposal',
  summary: 'Withdraw a proposal',
  description: 'Drops the change and cancels its run. An ended proposal stays unchanged.',
  scope: 'routines:write',
  params,
  success: { data: proposal, description: 'The proposal, dropped.' },
}).to(async ({ access: { projectId }, params: { routineId, proposalId: id }, deps }) => ({
  data: present(proposal, await proposals.withdrawProposal(deps, { projectId, routineId, id })),
}));

export const proposalRoutes: readonly Route[] = [createProposal, readProposal, deleteProposal];
