import { z } from 'zod';
import { pauseWithRuns } from '#core/execution/runs/index.ts';
import { activateWithForecast } from '#core/execution/forecast/index.ts';
import * as routines from '#core/authoring/routines/index.ts';
import { route, type Route } from '../../route.ts';
import { CHANGED_ROUTINE, routineParams } from './fields.ts';
import { presentRoutine, presentWarnings } from './present.ts';
import { activateBody, pauseBody } from './requests.ts';
import { activatedRoutine, routine, rotatedRoutine } from './responses.ts';

const tag = 'Routines';
const params = routineParams;

const activateRoutine = route({
  method: 'POST',
  path: '/v1/routines/:routineId/activate',
  id: 'activateRoutine',
  tag,
  summary: 'Put a routine on its schedule',
  description:
    'Needs a manual run that has succeeded since the last material change, with the routine’s own variables. Scheduled runs take the texts that its custom skills and the facts of its project had in the latest such run; activating an active routine again takes over newer ones. Where its forecast says that a budget or the plan’s allowance runs out within 30 days, `warnings` has `forecast_over_budget`, which names the limit, the day, and who may raise it; with `refuseOverBudget: true` that is the error instead.',
  auth: 'key-or-session',
  mcp: { toolset: 'routines', view: [...CHANGED_ROUTINE, 'warnings'] },
  scope: 'routines:write',
  params,
  body: activateBody,
  bodyOptional: true,
  success: { status: 200, data: activatedRoutine, description: 'The active routine.' },
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

const pauseRoutine = route({
  method: 'POST',
  path: '/v1/routines/:routineId/pause',
  id: 'pauseRoutine',
  tag,
  summary: 'Take a routine off its schedule',
  description:
    'From any state but `archived`, which is 409 `routine_archived`: an archived routine never runs again. Scheduled runs that have not begun are skipped as `paused`. With `cancelRuns: true` every other open run is cancelled too, manual ones included, also when the routine was paused before.',
  auth: 'key-or-session',
  mcp: { toolset: 'routines', view: CHANGED_ROUTINE },
  scope: 'routines:write',
  params,
  body: pauseBody,
  bodyOptional: true,
  success: { status: 200, data: routine, description: 'The paused routine.' },
  errors: ['routine_archived'],
}).to(async ({ access, by, params: { routineId }, body: { cancelRuns }, deps }) => ({
  data: presentRoutine(await pauseWithRuns(deps, by, { projectId: access.projectId, id: routineId, cancelRuns })),
}));

const rotateWebhookSecret = route({
  method: 'POST',
  path: '/v1/routines/:routineId/webhook-secret',
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the webhook secret',
  description:
    'For 24 hours deliveries are signed with the new secret and with the one before. A second rotation inside that time needs `force`. A response that is repeated under its `Idempotency-Key` no longer has the secret.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'routines:write',
  params,
  body: z.strictObject({
    force: z.boolean().default(false).meta({
      description: 'Also drops a previous secret that still signs.',
    }),
  }),
  bodyOptional: true,
  idempotent: true,
  shownOnce: ['webhookSecret'],
  success: { status: 200, data: rotatedRoutine, description: 'The routine with its new secret.' },
  errors: ['routine_archived', 'webhook_not_configured', 'rotation_in_progress'],
}).to(async ({ access: { projectId }, by, params: { routineId }, body: { force }, deps }) => {
  const input = { projectId, id: routineId, force };
  const { routine: rotated, webhookSecret } = await routines.rotateWebhookSecret(deps, by, input);
  return { data: { ...presentRoutine(rotated), webhookSecret } };
});

/** Operations that change a routine's state or secret, and none of its fields. */
export const actionRoutes: readonly Route[] = [activateRoutine, pauseRoutine, rotateWebhookSecret];
