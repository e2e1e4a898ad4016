import { z } from 'zod';
import { tickInProcess } from '#core/scheduling/index.ts';
import { route } from '../route.ts';

export const schedulerTick = route({
  method: 'POST',
  path: '/internal/scheduler/tick',
  id: 'schedulerTick',
  tag: 'Operations',
  summary: 'Tick the scheduler from outside',
  description:
    'The same tick that the scheduler workflow makes each minute, in this process, for an external cron as a fallback. Ticks may overlap. The response does not wait for the tick to end.',
  auth: 'scheduler-secret',
  success: {
    status: 202,
    data: z
      .strictObject({ accepted: z.literal(true), alreadyRunning: z.boolean() })
      .meta({ id: 'TickAccepted' }),
    description: 'The tick has begun, or the one before is still going on.',
  },
  errors: ['invalid_signature', 'scheduler_unavailable'],
}).to(async ({ deps }) => ({ data: { accepted: true, ...tickInProcess(deps) } }));
