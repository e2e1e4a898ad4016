import { z } from 'zod';
import { MESSAGE_KINDS, MESSAGE_STATES, type RunMessage } from '#core/outbox/index.ts';
import { iso, isoOrNull, timestamp } from '../../http/schemas.ts';

export const notification = z
  .strictObject({
    kind: z.enum(MESSAGE_KINDS).meta({
      description: 'What it tells of; `success_ping` is the GET to the monitor. More may be added.',
    }),
    to: z.string().nullable().meta({
      description: 'The masked address of a person, or the host of the monitor.',
      example: 'g***@example.com',
    }),
    state: z.enum(MESSAGE_STATES).meta({
      description:
        '`pending`: to be sent, or sent again. `held`: the mail of this hour has gone; the next one counts it, and then ' +
        'this is `merged`. `cancelled`: nobody is to get it any more. `failed`: given up. `error` says why.',
    }),
    at: timestamp.meta({
      description: 'When it came to its state; while it waits, when it was queued.',
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
