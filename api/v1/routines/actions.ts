import { z } from 'zod';
import { newId } from '#lib/ids.ts';
import { pauseWithRuns } from '#core/execution/runs/index.ts';
import { activateWithForecast } from '#core/execution/forecast/index.ts';
import * as routines from '#core/authoring/routines/index.ts';
import { sendTestEvent } from '#core/delivery/webhooks/index.ts';
import { present } from '../../http/present.ts';
import { routesOf, type Route } from '../../route.ts';
import { CHANGED_ROUTINE, routineParams } from './fields.ts';
import { presentRoutine, presentWarnings } from './present.ts';
import { activateBody, checkedRoutine, pauseBody } from './requests.ts';
import { activatedRoutine, routine, routineCheck, rotatedRoutine, webhookTest } from './responses.ts';

const route = routesOf('Routines');
const params = routineParams;

const activateRoutine = route('POST /v1/routines/:routineId/activate', {
  id: 'activateRoutine',
  summary: 'Put a routine on its schedule',
  description:
    'Needs a manual run that has succeeded since the last material change, with the routine’s own variables. Scheduled runs use the texts of skills and facts from the latest such run; activating an active routine again takes over newer texts. If the routine’s forecast exceeds a budget or the plan’s allowance within 30 days, `warnings` has `forecast_over_budget` with the limit, the day, and who may raise it; with `refuseOverBudget: true` that is an error instead.',
  mcp: { toolset: 'routines', view: [...CHANGED_ROUTINE, 'warnings'] },
  scope: 'routines:write',
  params,
  body: activateBody,
  bodyOptional: true,
  success: { data: activatedRoutine, description: 'The active routine.' },
  errors: [
    'successful_run_required',
    'routine_archived',
    'definition_unreadable',
    'schedule_ended',
    'allowance_exceeded',
    'forecast_over_budget',
  ],
}).to(async ({ access, by, params: { routineId }, body: { refuseOverBudget }, deps }) => {
  const { projectId, organizationId, plan } = access;
  const { routine: active, warnings } = await activateWithForecast(deps, by, {
    id: routineId,
    projectId,
    organizationId,
    plan,
    refuseOverBudget,
  });
  return { data: { ...presentRoutine(active), warnings: presentWarnings(warnings) } };
});

const pauseRoutine = route('POST /v1/routines/:routineId/pause', {
  id: 'pauseRoutine',
  summary: 'Take a routine off its schedule',
  description:
    'An archived routine gets 409 `routine_archived`. Scheduled runs that have not begun are skipped as `paused`. With `cancelRuns: true` every other open run is cancelled too, including manual ones, also when the routine was paused before.',
  mcp: { toolset: 'routines', view: CHANGED_ROUTINE },
  scope: 'routines:write',
  params,
  body: pauseBody,
  bodyOptional: true,
  success: { data: routine, description: 'The paused routine.' },
  errors: ['routine_archived'],
}).to(async ({ access, by, params: { routineId }, body: { cancelRuns }, deps }) => ({
  data: presentRoutine(await pauseWithRuns(deps, by, { projectId: access.projectId, id: routineId, cancelRuns })),
}));

const rotateWebhookSecret = route('POST /v1/routines/:routineId/webhook-secret', {
  id: 'rotateWebhookSecret',
  summary: 'Replace the webhook secret',
  description:
    'For 24 hours deliveries are signed with the new and the previous secret. A second rotation within that time needs `force`. A response that is repeated under its `Idempotency-Key` no longer has the secret.',
  scope: 'routines:write',
  params,
  body: z.strictObject({
    force: z.boolean().default(false).describe('Also ends a previous secret that still signs.'),
  }),
  bodyOptional: true,
  idempotent: true,
  shownOnce: ['webhookSecret'],
  success: { data: rotatedRoutine, description: 'The routine with its new secret.' },
  errors: ['routine_archived', 'webhook_not_configured', 'rotation_in_progress'],
}).to(async ({ access: { projectId }, by, params: { routineId }, body: { force }, deps }) => {
  const input = { projectId, id: routineId, force };
  const { routine: rotated, webhookSecret } = await routines.rotateWebhookSecret(deps, by, input);
  return { data: { ...presentRoutine(rotated), webhookSecret } };
});

const restoreRoutine = route('POST /v1/routines/:routineId/restore', {
  id: 'restoreRoutine',
  summary: 'Take a routine out of the archive',
  description:
    'The routine becomes a draft with its runs, versions and key, and needs a new manual run before activation. If another routine has its key by now, archive or rename the other routine first. A routine that is not archived stays unchanged.',
  scope: 'routines:write',
  params,
  success: { data: routine, description: 'The draft.' },
  errors: ['limit_reached', 'external_key_taken'],
}).to(async ({ access: { projectId }, by, params: { routineId }, deps }) => ({
  data: presentRoutine(await routines.restoreRoutine(deps.database, by, { projectId, id: routineId })),
}));

const checkRoutine = route('POST /v1/routines/check', {
  id: 'checkRoutine',
  summary: 'Check a routine without saving it',
  description:
    'Lists all faults for which saving this routine would be refused, and writes nothing. If a routine has the `externalKey`, checks a PUT under that key; otherwise a new routine.',
  scope: 'routines:read',
  body: checkedRoutine,
  success: { data: routineCheck, description: 'The faults; empty if the routine can be saved.' },
  errors: ['models_unavailable'],
}).to(async ({ access: { projectId }, body: { skillLengths, ...fields }, deps }) => {
  const refusals = await routines.findRefusals(deps, {
    id: newId('routine'),
    projectId,
    fields,
    skillLengths: new Map(Object.entries(skillLengths)),
  });
  const faultsOf = ({ code, message, faults }: (typeof refusals)[number]) =>
    (faults.length === 0 ? [{ path: null, message }] : faults).map((fault) => ({ code, ...fault }));
  return { data: { faults: refusals.flatMap(faultsOf) } };
});

const testWebhook = route('POST /v1/routines/:routineId/webhook-test', {
  id: 'testWebhook',
  summary: 'Send a test event to the webhook',
  description:
    'Sends one `webhook.test` event, signed like any other, and returns the receiver’s response. The event is not retried or listed as a delivery. At most 10 a minute for a routine.',
  scope: 'routines:write',
  params,
  success: { data: webhookTest, description: 'The response of the receiver, or the reason for none.' },
  errors: ['routine_archived', 'webhook_not_configured', 'rate_limited'],
}).to(async ({ access: { projectId }, params: { routineId }, deps }) => ({
  data: present(webhookTest, await sendTestEvent(deps, { projectId, id: routineId })),
}));

/** Operations on a routine that change none of its fields: they change its state or secret, or try something. */
export const actionRoutes: readonly Route[] = [
  activateRoutine,
  pauseRoutine,
  restoreRoutine,
  checkRoutine,
  rotateWebhookSecret,
  testWebhook,
];
