import { z } from 'zod';
import { MESSAGE_KINDS, MESSAGE_STATES } from '#core/foundation/outbox/index.ts';
import { CHAT_KINDS } from '#core/clients/chats/index.ts';
import { CHAT_FAILURES } from '#core/delivery/chats/index.ts';
import { EVENT_TYPES, FAILURE_REASONS } from '#core/delivery/webhooks/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf, meaningsOf, wordOf } from '../../http/schemas.ts';

const attempt = z.strictObject({
  index: z.number().int(),
  startedAt: timestamp,
  durationMs: z.number().int().nullable(),
  status: z.number().int().nullable(),
  error: z.string().nullable(),
  responseExcerpt: z.string().nullable().describe('The first 1 kB of the response.'),
});

const course = {
  nextAttemptAt: timestamp.nullable(),
  createdAt: timestamp,
  finishedAt: timestamp.nullable(),
  attempts: z.array(attempt),
};

export const delivery = component('WebhookDelivery', {
  id: idOf('delivery'),
  eventType: z
    .enum(EVENT_TYPES)
    .describe(
      'The `type` of the event. `run.…` tells how the run ended; `routine.paused` says that the service paused the ' +
        'routine because of this run, and why; `question.…` that the run asked a question, or that it was answered.',
    ),
  state: z.enum(['pending', 'sending', 'delivered', 'failed']),
  reason: z
    .string()
    .nullable()
    .describe(`Why the delivery was given up: ${meaningsOf(FAILURE_REASONS)}.`),
  ...course,
});

export const chatDelivery = component('ChatDelivery', {
  id: idOf('chatDelivery'),
  chatId: idOf('chat'),
  chatName: z.string().nullable().describe('Name of the chat; null once the chat is deleted.'),
  kind: z.enum(CHAT_KINDS).nullable(),
  state: z.enum(['pending', 'delivered', 'failed']),
  reason: wordOf(CHAT_FAILURES)
    .nullable()
    .describe(`Why the delivery was given up: ${meaningsOf(CHAT_FAILURES)}.`),
  ...course,
});

export const notification = component('RunNotification', {
  kind: z.enum(MESSAGE_KINDS).describe('Kind of message; `success_ping` is the GET to the monitor. The list may grow.'),
  to: z.string().nullable().meta({
    description: 'The masked address of a person, or the host of the monitor.',
    example: 'g***@example.com',
  }),
  state: z
    .enum(MESSAGE_STATES)
    .describe(
      '`pending`: to be sent, or sent again. `held`: the hourly limit is reached; it becomes `merged` once the summary ' +
        'has counted it. `cancelled`: no longer to be sent. `failed`: given up; `error` has the reason.',
    ),
  at: timestamp.describe('When the message reached its state; for a waiting message, when it was queued.'),
  attempts: z.number().int(),
  nextAttemptAt: timestamp.nullable(),
  error: z.string().nullable().describe('Error of the last attempt.'),
});
