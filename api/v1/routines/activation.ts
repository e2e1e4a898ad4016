import { pauseWithRuns } from '#core/runs/index.ts';
import { activateWithForecast } from '#core/scheduling/index.ts';
import { route, type Route } from '../../route.ts';
import { routineParams } from './fields.ts';
import { presentRoutine } from './present.ts';
import { activateBody, pauseBody } from './requests.ts';
import { routine } from './responses.ts';

const tag = 'Routines';
const params = routineParams;

const activateRoutine = route({
  method: 'POST',
  path: '/v1/routines/:routineId/activate',
  id: 'activateRoutine',
  tag,
  summary: 'Put a routine on its schedule',
  description:
    'Needs a manual run that has succeeded since the last material change. Where its forecast says that a budget or the plan’s allowance runs out within 30 days, that has to be accepted with `acceptForecast: true`; the error names the limit, the day, and who may raise it.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  body: activateBody,
  bodyOptional: true,
  success: { status: 200, data: routine, description: 'The active routine.' },
  errors: [
    'successful_run_required',
    'routine_archived',
    'schedule_ended',
    'allowance_exceeded',
    'forecast_over_budget',
  ],
}).to(async ({ access, by, params: { routineId }, body: { acceptForecast }, deps }) => {
  const { projectId, organizationId, plan } = access;
  const active = await activateWithForecast(deps, by, {
    id: routineId,
    projectId,
    organizationId,
    plan,
    acceptForecast,
  });
  return { data: presentRoutine(active) };
});

const pauseRoutine = route({
  method: 'POST',
  path: '/v1/routines/:routineId/pause',
  id: 'pauseRoutine',
  tag,
  summary: 'Take a routine off its schedule',
  description:
    'Scheduled runs that have not begun are skipped as `paused`. With `cancelRuns: true` every other open run is cancelled too, manual ones included, also when the routine was paused before.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params,
  body: pauseBody,
  bodyOptional: true,
  success: { status: 200, data: routine, description: 'The paused routine.' },
  errors: ['routine_archived'],
}).to(async ({ access, by, params: { routineId }, body: { cancelRuns }, deps }) => ({
  data: presentRoutine(
    await pauseWithRuns(deps, by, { projectId: access.projectId, id: routineId, cancelRuns }),
  ),
}));

export const activationRoutes: readonly Route[] = [activateRoutine, pauseRoutine];
