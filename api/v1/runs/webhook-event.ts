import { z } from 'zod';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { eventBody } from '#core/delivery/webhooks/index.ts';
import * as runs from '#core/execution/runs/index.ts';
import { AppError } from '#lib/errors.ts';
import { runEvent } from '../../docs/webhooks.ts';
import { route } from '../../route.ts';
import { runParams } from './schemas.ts';

const event = z.strictObject(runEvent.shape).meta({ id: 'RunWebhookEvent' });

export const readRunEvent = route({
  method: 'GET',
  path: '/v1/runs/:runId/event',
  id: 'readRunEvent',
  tag: 'Runs',
  summary: 'Read the webhook event of a run',
  description:
    'What the webhook of its routine is told of it, or would be told if there were one, by the settings that the routine has now. `ras listen` forwards these to a receiver under development.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  params: runParams,
  success: { status: 200, data: event, description: 'The event.' },
  errors: ['run_not_finished', 'content_erased', 'delivery_not_found'],
}).to(async ({ access: { projectId }, params: { runId }, deps }) => {
  const run = await runs.readRunDetail(deps, projectId, runId);
  const { state, finishedAt, usage } = run;
  if (state === 'queued' || state === 'running' || finishedAt === null) throw new AppError('run_not_finished');
  if (state === 'skipped') throw new AppError('delivery_not_found', 'A skipped occurrence has no event.');
  if (run.contentErasedAt !== null) throw new AppError('content_erased');
  const { deliver } = await readRoutine(deps.database, projectId, run.routineId);
  const estimatedUsage = usage.estimated;
  const body = eventBody({ ...run, ...usage, estimatedUsage, state, finishedAt, deliver });
  return { data: event.parse(JSON.parse(body)) };
});
