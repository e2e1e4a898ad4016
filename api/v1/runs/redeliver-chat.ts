import { z } from 'zod';
import { redeliverToChat } from '#core/delivery/chats/index.ts';
import * as runs from '#core/execution/runs/index.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';
import { route } from '../../route.ts';
import { presentRunDetail } from './present.ts';
import { runDetail } from './schemas.ts';

/** Sends a result to a chat again. */
export const redeliverChat = route({
  method: 'POST',
  path: '/v1/runs/:runId/chat-deliveries/:deliveryId/redeliver',
  id: 'redeliverChat',
  tag: 'Runs',
  summary: 'Send a result to a chat again',
  description: 'Again with all its retries. One that waits for its next attempt is sent at once.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:write',
  params: z.strictObject({
    runId: idOf('run', EXAMPLE.run),
    deliveryId: idOf('chatDelivery', EXAMPLE.chatDelivery),
  }),
  idempotent: true,
  success: { status: 202, data: runDetail, description: 'The run with the delivery pending.' },
  errors: ['content_erased', 'routine_archived'],
}).to(async ({ access: { projectId }, params, deps }) => {
  await redeliverToChat(deps, { projectId, ...params });
  return { data: presentRunDetail(await runs.readRunDetail(deps, projectId, params.runId), deps.config) };
});
