import { z } from 'zod';
import * as routines from '#core/routines/index.ts';
import { route } from '../../route.ts';
import { routineParams } from './fields.ts';
import { presentRoutine } from './present.ts';
import { rotatedRoutine } from './responses.ts';

export const rotateWebhookSecret = route({
  method: 'POST',
  path: '/v1/routines/:routineId/webhook-secret',
  id: 'rotateWebhookSecret',
  tag: 'Routines',
  summary: 'Replace the webhook secret',
  description:
    'For 24 hours deliveries are signed with the new secret and with the one before. A second rotation inside that time needs `force`.',
  auth: 'key-or-session',
  scope: 'routines:write',
  params: routineParams,
  body: z.strictObject({
    force: z.boolean().default(false).meta({
      description: 'Also drops a previous secret that still signs.',
    }),
  }),
  bodyOptional: true,
  success: { status: 200, data: rotatedRoutine, description: 'The routine with its new secret.' },
  errors: ['routine_archived', 'webhook_not_configured', 'rotation_in_progress'],
}).to(async ({ access: { projectId }, by, params: { routineId }, body: { force }, deps }) => {
  const input = { projectId, id: routineId, force };
  const { routine: rotated, webhookSecret } = await routines.rotateWebhookSecret(deps, by, input);
  return { data: { ...presentRoutine(rotated), webhookSecret } };
});
