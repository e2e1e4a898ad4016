import { z } from 'zod';
import { component } from '../../http/schemas.ts';
import { openRunEvents, STREAM_END_NAMES, type RunEvent } from '#core/execution/run-events/index.ts';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { eventBody } from '#core/delivery/webhooks/index.ts';
import { readRunDetail } from '#core/execution/runs/index.ts';
import { AppError } from '#lib/errors.ts';
import { oncePerObject } from '#lib/coalesce.ts';
import { credentialId } from '../../access.ts';
import { runEvent as runWebhook } from '../../docs/webhooks.ts';
import { eventRoute, routesOf } from '../../route.ts';
import { presentRun } from './present.ts';
import { run, runParams } from './schemas.ts';
import { presentStep, step } from './step-schema.ts';

const id = z.string().meta({
  description: 'Send it back as `Last-Event-ID` to continue after this event.',
  example: '2.running',
});

const runEvent = z
  .discriminatedUnion('event', [
    z.strictObject({ event: z.literal('state'), id, data: run }),
    z.strictObject({ event: z.literal('step'), id, data: step }),
    z.strictObject({
      event: z.literal('text'),
      data: z.strictObject({
        index: z.int().describe('Index of the step that is under way.'),
        attempt: z.int().describe('Number of the attempt. If it is higher than before, the step has begun again.'),
        begins: z.boolean().describe('Whether the text replaces all earlier text of the step.'),
        text: z.string(),
      }),
    }),
    z.strictObject({
      event: z.literal('end'),
      retryMs: z.int().describe('The `retry` field: milliseconds until the client should connect again.'),
      data: z.strictObject({ reason: z.enum(STREAM_END_NAMES), message: z.string() }),
    }),
  ])
  .meta({ id: 'RunEvent' });

export const followRun = eventRoute('GET /v1/runs/:runId/events', {
  id: 'followRun',
  tag: 'Runs',
  summary: 'Follow a run as server-sent events',
  description:
    'A `state` event with the run for each state it enters, a `step` event for each step once it is finished, in order. Between them `text` events bring the text of the model step that is under way, within about a second, if the model is streamed. These events have no id, and the `step` event of the step has the whole text, which counts. The stream ends after the final state. A comment comes every 15 seconds. If a stream ends earlier, an `end` event has the reason: after 15 minutes, when the server stops (continue with `Last-Event-ID`, as browsers do), or when the credential may no longer read the run, which is checked every minute. A credential may have 20 open streams and an organization 200, unless the operator has set other limits; further ones get 429. A client that does not read for 15 seconds is cut off.',
  scope: 'runs:read',
  params: runParams,
  success: {
    stream: true,
    data: runEvent,
    description: 'Each event: its `event`, `id` and `retry` fields, and its `data` as JSON.',
  },
}).to(async ({ access, params: { runId }, deps, lastEventId, signal }) => {
  const { projectId, organizationId } = access;
  const follower = { credential: credentialId(access), organizationId };
  const run = { projectId, id: runId };
  const events = await openRunEvents(deps, run, { follower, lastEventId, signal });
  return events && presented(events);
});

// Followers of one run share a snapshot, so the run is presented once for all of them.
const presentRunOnce = oncePerObject(presentRun);
const presentStepOnce = oncePerObject(presentStep);

async function* presented(events: AsyncIterable<RunEvent>) {
  for await (const event of events) {
    switch (event.event) {
      case 'state':
        yield { ...event, data: presentRunOnce(event.data) };
        break;
      case 'step':
        yield { ...event, data: presentStepOnce(event.data) };
        break;
      case 'text':
      case 'end':
        yield event;
    }
  }
}

const webhookEvent = component('RunWebhookEvent', runWebhook.shape);

export const readRunEvent = routesOf('Runs')('GET /v1/runs/:runId/event', {
  id: 'readRunEvent',
  summary: 'Read the webhook event of a run',
  description:
    'The event that the routine’s webhook gets, or would get, about the run by the present settings. `ras listen` forwards these to a receiver under development.',
  scope: 'runs:read',
  params: runParams,
  success: { data: webhookEvent, description: 'The event.' },
  errors: ['run_not_finished', 'content_erased', 'delivery_not_found'],
}).to(async ({ access: { projectId }, params: { runId }, deps }) => {
  const run = await readRunDetail(deps, projectId, runId);
  const { state, finishedAt, usage } = run;
  if (state === 'queued' || state === 'running' || finishedAt === null) throw new AppError('run_not_finished');
  if (state === 'skipped') throw new AppError('delivery_not_found', 'A skipped occurrence has no event.');
  if (run.contentErasedAt !== null) throw new AppError('content_erased');
  const { deliver } = await readRoutine(deps.database, projectId, run.routineId);
  const estimatedUsage = usage.estimated;
  const body = eventBody({ ...run, ...usage, estimatedUsage, state, finishedAt, deliver });
  return { data: webhookEvent.parse(JSON.parse(body)) };
});
