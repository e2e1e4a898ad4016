import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { TRIGGERS } from '#core/execution/run-states/index.ts';
import { EVENT_TYPES, TEST_EVENT, type EventType } from '#core/delivery/webhooks/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../http/schemas.ts';
import { changes, data, outcomeFields, usage } from '../v1/runs/result-schema.ts';

const ids = {
  routineId: idOf('routine'),
  projectId: idOf('project'),
};

export const runEvent = component('RunEvent', {
  type: z.enum(['run.succeeded', 'run.changed', 'run.failed', 'run.cancelled']),
  timestamp,
  data: z.strictObject({
    id: idOf('run'),
    ...ids,
    trigger: z.enum(TRIGGERS),
    state: z.enum(['succeeded', 'failed', 'cancelled']),
    reason: z.string().nullable().describe('The list may grow.'),
    errorMessage: z.string().nullable(),
    scheduledFor: timestamp.nullable(),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp,
    ...outcomeFields,
    result: z.string().nullable(),
    resultTruncated: z.boolean().describe('True if `result` is cut.'),
    data,
    changes: changes.nullable(),
    usage,
  }),
});

export const pausedEvent = component('RoutinePausedEvent', {
  type: z.literal('routine.paused'),
  timestamp,
  data: z.strictObject({
    ...ids,
    name: z.string(),
    state: z.literal('paused'),
    reason: z.string().meta({
      description: 'The same words as in `stateReason` of the routine.',
      example: 'paused after 5 failed runs in a row',
    }),
    runId: idOf('run').nullable().describe('The run that caused the pause, or null.'),
  }),
});

const actionEvent = component('ActionEvent', {
  type: z.enum(['action.held', 'action.decided']),
  timestamp,
  data: z.strictObject({
    id: idOf('action'),
    ...ids,
    runId: idOf('run'),
    state: z.string().meta({ description: 'The list may grow.', example: 'open' }),
    reason: z.string().nullable().describe('The list may grow.'),
    toolName: z.string(),
    connectionId: idOf('connection'),
    expiresAt: timestamp,
    url: z.string().describe('The page on which a person decides. A GET of it changes nothing.'),
  }),
});

export const questionEvent = component('QuestionEvent', {
  type: z.enum(['question.asked', 'question.answered']),
  timestamp,
  data: z.strictObject({
    id: idOf('question'),
    ...ids,
    runId: idOf('run').describe('The run that asked the question last.'),
    question: z.string().describe('The question as a model wrote it: data, not an instruction.'),
    choices: z.array(z.string()).nullable(),
    default: z.string().nullable(),
    answer: z.string().nullable().describe('The answer; null for `question.asked`.'),
    expiresAt: timestamp,
  }),
});

const testEvent = component('WebhookTestEvent', {
  type: z.literal(TEST_EVENT),
  timestamp,
  data: z.strictObject({ ...ids, name: z.string().describe('The name of the routine.') }),
});

type SentType = EventType | typeof TEST_EVENT;

/** Builds the webhooks section of the OpenAPI document. */
export function webhooks(): Record<SentType, ZodOpenApiPathItemObject> {
  const types: readonly SentType[] = [...EVENT_TYPES, TEST_EVENT];
  const described = types.map((type) => [type, { post: event(type) }]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets which keys there are
  return Object.fromEntries(described) as Record<SentType, ZodOpenApiPathItemObject>;
}

const SUMMARIES: Readonly<Record<SentType, string>> = {
  'run.succeeded': 'A run has succeeded',
  'run.changed': 'A run has brought a change, and the routine delivers changes',
  'run.failed': 'A run has failed',
  'run.cancelled': 'A run was cancelled',
  'routine.paused': 'The service has paused a routine',
  'action.held': 'A call of a tool waits for a person',
  'action.decided': 'A held call was approved or rejected, or has ended otherwise',
  'question.asked': 'A run asks a question',
  'question.answered': 'A question of a run was answered',
  'webhook.test': 'A person or a program tries the webhook',
};

const SCHEMAS: Readonly<Partial<Record<SentType, z.ZodType>>> = {
  'routine.paused': pausedEvent,
  'action.held': actionEvent,
  'action.decided': actionEvent,
  'question.asked': questionEvent,
  'question.answered': questionEvent,
  'webhook.test': testEvent,
};

function event(type: SentType) {
  const schema = SCHEMAS[type] ?? runEvent;
  return {
    operationId: `on-${type.replace('.', '-')}`,
    tags: ['Runs'],
    summary: SUMMARIES[type],
    description:
      `${SUMMARIES[type]}. Signed by Standard Webhooks with the secret of the routine: verify \`webhook-signature\`. ` +
      '`webhook-id` is the same on every attempt. The page `docs/webhooks.md` has the headers, the retries, and how to verify in Node, Python and Go.',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '200': { description: 'Received. After any status other than 2xx the event is sent again.' },
      '410': { description: 'Nothing more is sent to this address.' },
    },
  };
}
