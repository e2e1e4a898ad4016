import { z } from 'zod';
import { backfillRoutine as backfill, forecastBackfill as forecast, MAX_BACKFILL } from '#core/scheduling/index.ts';
import { instant, timestamp } from '#lib/schemas.ts';
import { programOf } from '../../access.ts';
import { present } from '../../http/present.ts';
import { component, decimal, idOf } from '../../http/schemas.ts';
import { routesOf } from '../../route.ts';
import { routineParams } from '../routines/fields.ts';
import { forecastFields, shownForecast } from '../routines/forecast.ts';

const route = routesOf('Runs');

const count = z.number().int();

const leftOut = component(
  'LeftOut',
  {
    alreadyRan: count.describe(
      'Times that have a scheduled run, that a person has repeated, or at which the gate saw no change.',
    ),
    alreadyBackfilled: count.describe('Times for which another backfill has made a run.'),
    stillDue: count.describe('Times that the schedule is about to handle itself.'),
  },
  { description: 'How many instants of the window get no run, and why.' },
);

const nextFrom = timestamp
  .nullable()
  .describe('The first instant of the window beyond `max`: the next backfill continues there. Null without one.');

const madeBackfill = component('Backfill', {
  id: idOf('backfill'),
  routineId: idOf('routine'),
  routineRevision: count.describe('The version that the runs execute.'),
  runs: z
    .array(z.strictObject({ id: idOf('run'), scheduledFor: timestamp }))
    .describe('The queued runs and their instants, the earliest first.'),
  leftOut,
  nextFrom,
});

const backfillForecast = component('BackfillForecast', { ...forecastFields, leftOut, nextFrom });

const window = {
  from: instant.meta({
    description: 'The first instant of the window; not older than the project keeps its runs.',
    example: '2026-11-01T00:00:00Z',
  }),
  to: instant.meta({
    description: 'The last instant of the window; not in the future.',
    example: '2026-11-08T00:00:00Z',
  }),
};

export const forecastBackfill = route('GET /v1/routines/:routineId/backfill/forecast', {
  id: 'forecastBackfill',
  summary: 'Forecast a backfill',
  description:
    'The runs that a backfill of this window would make, their usage if all of them ran today, and every limit on them. Makes no runs.',
  scope: 'routines:read',
  params: routineParams,
  query: z.strictObject({
    ...window,
    max: decimal(1, MAX_BACKFILL)
      .default(MAX_BACKFILL)
      .meta({ description: `The most runs to make, up to ${MAX_BACKFILL}.`, example: 50 }),
  }),
  success: { data: backfillForecast, description: 'The forecast.' },
  errors: ['routine_archived', 'successful_run_required', 'invalid_schedule'],
}).to(async ({ access, params: { routineId }, query, deps }) => {
  const { projectId, organizationId, plan } = access;
  const input = { ...query, projectId, organizationId, plan, routineId };
  const { forecast: row, ...rest } = await forecast(deps, input);
  return { data: present(backfillForecast, { ...shownForecast(row), ...rest }) };
});

export const backfillRoutine = route('POST /v1/routines/:routineId/backfill', {
  id: 'backfillRoutine',
  summary: 'Make runs for past times of a schedule',
  description:
    'Makes a run for each of the first `max` times of the present schedule from `from` to `to` that has none, because the schedule skipped it or the routine was not active yet. Without `acceptForecast: true` the response is 409 `forecast_not_accepted`, whose message names the cost. The present version must be proven, as for activation. The runs execute it even if the routine is changed meanwhile, wait behind all others for up to 7 days, and count towards the allowance now, all or none. Each time gets only one such run; to repeat it, retry the run. `GET /v1/runs?backfillId=` lists the runs.',
  scope: 'runs:write',
  params: routineParams,
  body: component('BackfillRoutine', {
    ...window,
    max: z.number().int().min(1).max(MAX_BACKFILL).default(MAX_BACKFILL),
    acceptForecast: z.boolean().default(false),
  }),
  idempotent: true,
  success: { status: 202, data: madeBackfill, description: 'The queued runs.' },
  errors: [
    'routine_archived',
    'successful_run_required',
    'invalid_schedule',
    'forecast_not_accepted',
    'provider_disabled',
    'allowance_exceeded',
    'limit_reached',
  ],
}).to(async ({ access, by, params: { routineId }, body, deps, newId }) => {
  const { projectId, organizationId, plan } = access;
  const input = { ...body, projectId, organizationId, plan, routineId, startedBy: programOf(access) };
  return {
    data: present(madeBackfill, await backfill(deps, by, { ...input, backfillId: newId('backfill') })),
  };
});
