import { z } from 'zod';
import { openRunEvents, type RunEvent } from '#core/runs/index.ts';
import { eventRoute } from '../../route.ts';
import { presentRun, run, runParams } from './schemas.ts';
import { presentStep, step } from './step-schema.ts';

const id = z.string().meta({
  description: 'Send it back as `Last-Event-ID` to go on after this event.',
  example: '2.running',
});

const runEvent = z
  .discriminatedUnion('event', [
    z.strictObject({ event: z.literal('state'), id, data: run }),
    z.strictObject({ event: z.literal('step'), id, data: step }),
  ])
  .meta({ id: 'RunEvent' });

export const followRun = eventRoute({
  method: 'GET',
  path: '/v1/runs/:runId/events',
  id: 'followRun',
  tag: 'Runs',
  summary: 'Follow a run as server-sent events',
  description:
    'A `state` event with the run for each state it enters, a `step` event for each step once it is finished, in order. The stream ends after the final state. A comment comes every 15 seconds. The connection is closed after 15 minutes at the latest; go on with `Last-Event-ID`, as browsers do by themselves.',
  auth: 'key-or-session',
  scope: 'runs:read',
  params: runParams,
  success: {
    status: 200,
    stream: true,
    data: runEvent,
    description: 'Each event: its `event` and `id` fields, and its `data` as JSON.',
  },
}).to(async ({ access: { projectId }, params: { runId }, deps, lastEventId, signal }) => {
  const run = { projectId, id: runId };
  const events = await openRunEvents(deps, run, { lastEventId, signal });
  return events && presented(events);
});

async function* presented(events: AsyncIterable<RunEvent>) {
  for await (const event of events) {
    yield event.event === 'state'
      ? { ...event, data: presentRun(event.data) }
      : { ...event, data: presentStep(event.data) };
  }
}
