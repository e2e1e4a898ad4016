import { z } from 'zod';
import { EVENT_TYPES, FAILURE_REASONS, type Delivery } from '#core/webhooks/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, timestamp } from '../../http/schemas.ts';

export const delivery = z
  .strictObject({
    id: idOf('delivery', EXAMPLE.delivery),
    eventType: z.enum(EVENT_TYPES).meta({
      description:
        'The `type` of the event. `run.…` tells how the run ended; `routine.paused` says that the service paused the ' +
        'routine because of this run, and why.',
    }),
    state: z.enum(['pending', 'sending', 'delivered', 'failed']),
    reason: z
      .string()
      .nullable()
      .meta({
        description: `Why it was given up: ${Object.entries(FAILURE_REASONS)
          .map(([reason, why]) => `\`${reason}\` (${why})`)
          .join(', ')}.`,
      }),
    nextAttemptAt: timestamp.nullable(),
    createdAt: timestamp,
    finishedAt: timestamp.nullable(),
    attempts: z.array(
      z.strictObject({
        index: z.number().int(),
        startedAt: timestamp,
        durationMs: z.number().int().nullable(),
        status: z.number().int().nullable(),
        error: z.string().nullable(),
        responseExcerpt: z
          .string()
          .nullable()
          .meta({ description: 'The first 1 kB of the response.' }),
      }),
    ),
  })
  .meta({ id: 'WebhookDelivery' });

export function presentDelivery(row: Delivery) {
  return {
    id: row.id,
    eventType: row.eventType,
    state: row.state,
    reason: row.reason,
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    createdAt: iso(row.createdAt),
    finishedAt: isoOrNull(row.finishedAt),
    attempts: row.attempts.map((attempt) => ({
      index: attempt.index,
      startedAt: iso(attempt.startedAt),
      durationMs: attempt.durationMs,
      status: attempt.status,
      error: attempt.error,
      responseExcerpt: attempt.responseExcerpt,
    })),
  };
}
