import { z } from 'zod';
import { MESSAGE_KINDS, MESSAGE_STATES, type RunMessage } from '#core/foundation/outbox/index.ts';
import { EVENT_TYPES, FAILURE_REASONS, type Delivery } from '#core/delivery/webhooks/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf, iso, isoOrNull } from '../../http/schemas.ts';

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
        responseExcerpt: z.string().nullable().meta({ description: 'The first 1 kB of the response.' }),
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

export const notification = z
  .strictObject({
    kind: z.enum(MESSAGE_KINDS).meta({
      description: 'What it is about; `success_ping` is the GET to the monitor. More may be added.',
    }),
    to: z.string().nullable().meta({
      description: 'The masked address of a person, or the host of the monitor.',
      example: 'g***@example.com',
    }),
    state: z.enum(MESSAGE_STATES).meta({
      description:
        '`pending`: to be sent, or sent again. `held`: the mails of this hour have gone; the summary counts it, and ' +
        'then this is `merged`. `cancelled`: it is not to be sent any more. `failed`: given up. `error` says why.',
    }),
    at: timestamp.meta({
      description: 'When it reached its state; while it waits, when it was queued.',
    }),
    attempts: z.number().int(),
    nextAttemptAt: timestamp.nullable(),
    error: z.string().nullable().meta({ description: 'Of the last attempt.' }),
  })
  .meta({ id: 'RunNotification' });

export function presentNotification(row: RunMessage) {
  return {
    kind: row.kind,
    to: row.to,
    state: row.state,
    at: iso(row.at),
    attempts: row.attempts,
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    error: row.error,
  };
}
