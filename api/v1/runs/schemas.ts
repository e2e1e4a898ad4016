import { z } from 'zod';
import {
  RUN_REASONS,
  RUN_STATES,
  TRIGGERS,
  type Run,
  type RunDetail,
  type RunReason,
  type RunUsage,
  type Step,
  type ToolRecord,
} from '#core/runs/index.ts';
import { FAILURE_REASONS, type Delivery } from '#core/webhooks/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, pageQuery, timestamp } from '../../http/schemas.ts';

const usage = z
  .strictObject({
    inputTokens: z.number().int(),
    cachedInputTokens: z.number().int().meta({ description: 'Part of the input.' }),
    outputTokens: z.number().int(),
    reasoningTokens: z.number().int().meta({ description: 'Part of the output.' }),
    totalTokens: z.number().int(),
    costUsd: z.string().nullable().meta({
      description: 'US dollars, a decimal string; null without a price.',
      example: '0.00042',
    }),
  })
  .meta({ id: 'Usage' });

const shape = {
  id: idOf('run', EXAMPLE.run),
  routineId: idOf('routine', EXAMPLE.routine),
  routineRevision: z.number().int(),
  trigger: z.enum(TRIGGERS),
  state: z.enum(RUN_STATES),
  reason: z
    .string()
    .nullable()
    .meta({
      description: `Why it ended so: ${Object.entries(RUN_REASONS)
        .map(([reason, why]) => `\`${reason}\` (${why})`)
        .join(', ')}.`,
      example: 'overlap' satisfies RunReason,
    }),
  errorMessage: z.string().nullable(),
  scheduledFor: timestamp
    .nullable()
    .meta({ description: 'The instant of the schedule it stands for.' }),
  skipped: z
    .strictObject({ count: z.number().int(), from: timestamp, until: timestamp })
    .nullable()
    .meta({ description: 'Of a `skipped` run: the occurrences it accounts for.' }),
  variables: z.record(z.string(), z.string()).meta({ description: "This run's own values." }),
  retryOf: z.string().nullable(),
  model: z
    .strictObject({
      provider: z.string(),
      connectionId: z.string().nullable(),
      modelId: z.string(),
    })
    .nullable(),
  result: z.string().nullable().meta({ description: 'The text of its last step.' }),
  stepCount: z.number().int().meta({ description: 'Model steps on record.' }),
  usage,
  cancelRequestedAt: timestamp.nullable(),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
};

export const run = z.strictObject(shape).meta({ id: 'Run' });

const nullableText = z.string().nullable();
const nullableLength = z.number().int().nullable();

const toolCall = z
  .strictObject({
    name: z.string().meta({ description: 'As the model calls the tool.' }),
    toolName: nullableText.meta({
      description: 'As its server calls it; null if the run has no such tool.',
    }),
    connectionId: nullableText,
    policyId: nullableText,
    arguments: nullableText.meta({
      description:
        'JSON text. Here and below secrets are taken out and long texts cut at 16,000 characters.',
      example: '{"message":"hello"}',
    }),
    argumentsLength: nullableLength.meta({ description: 'Characters before the cut.' }),
    isError: z.boolean().nullable(),
    result: nullableText.meta({ description: 'The text of the answer.' }),
    resultLength: nullableLength,
    structured: nullableText.meta({ description: 'The structured content, as JSON text.' }),
    structuredLength: nullableLength,
    attachments: z
      .array(
        z.strictObject({
          kind: z.enum(['image', 'audio', 'resource', 'link']),
          mimeType: nullableText,
          bytes: nullableLength,
          sha256: nullableText,
          uri: nullableText,
        }),
      )
      .meta({ description: 'What the answer held besides text; only what it was is kept.' }),
  })
  .meta({ id: 'ToolCall' });

export const step = z
  .strictObject({
    index: z.number().int(),
    kind: z.enum(['model', 'tool']),
    state: z.enum(['pending', 'started', 'succeeded', 'failed', 'outcome_unknown']),
    attempt: z.number().int().meta({
      description: 'Beyond 1, an earlier attempt may have been billed by the provider and lost.',
    }),
    modelId: z.string().nullable(),
    text: z.string().nullable(),
    finishReason: z.string().nullable(),
    errorMessage: z.string().nullable(),
    tool: toolCall.nullable().meta({ description: 'Of a tool step.' }),
    usage,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Step' });

const delivery = z
  .strictObject({
    id: idOf('delivery', EXAMPLE.delivery),
    eventType: z.string(),
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
          .meta({ description: 'The first 1 kB of the answer.' }),
      }),
    ),
  })
  .meta({ id: 'WebhookDelivery' });

export const runDetail = z
  .strictObject({
    ...shape,
    prompt: z
      .string()
      .nullable()
      .meta({ description: 'What the model was given: instructions and skills, rendered.' }),
    steps: z.array(step),
    webhookDeliveries: z.array(delivery),
  })
  .meta({ id: 'RunDetail' });

export const runFilters = {
  state: z.enum(RUN_STATES).optional().meta({ description: 'Only those in this state.' }),
  trigger: z.enum(TRIGGERS).optional().meta({ description: 'Only those started so.' }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Created at or after this time.' }),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Created before this time.' }),
};

export const runQuery = pageQuery(runFilters);
export const runParams = z.strictObject({ runId: idOf('run', EXAMPLE.run) });

export function presentRun(row: Run) {
  return {
    id: row.id,
    routineId: row.routineId,
    routineRevision: row.routineRevision,
    trigger: row.trigger,
    state: row.state,
    reason: row.reason,
    errorMessage: row.errorMessage,
    scheduledFor: isoOrNull(row.scheduledFor),
    skipped: presentSkipped(row),
    variables: { ...row.variables },
    retryOf: row.retryOf,
    model: row.model,
    result: row.result,
    stepCount: row.stepCount,
    usage: presentUsage(row.usage),
    cancelRequestedAt: isoOrNull(row.cancelRequestedAt),
    createdAt: iso(row.createdAt),
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
  };
}

export function presentRunDetail(row: RunDetail) {
  return {
    ...presentRun(row),
    prompt: row.prompt,
    steps: row.steps.map(presentStep),
    webhookDeliveries: row.deliveries.map(presentDelivery),
  };
}

export function presentStep(row: Step) {
  return {
    index: row.index,
    kind: row.kind,
    state: row.state,
    attempt: row.attempt,
    modelId: row.modelId,
    text: row.text,
    finishReason: row.finishReason,
    errorMessage: row.errorMessage,
    tool: row.tool === null ? null : presentToolCall(row.tool),
    usage: presentUsage(row.usage),
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
  };
}

function presentToolCall(row: ToolRecord) {
  return {
    name: row.name,
    toolName: row.toolName,
    connectionId: row.connectionId,
    policyId: row.policyId,
    arguments: row.arguments,
    argumentsLength: row.argumentsLength,
    isError: row.isError,
    result: row.result,
    resultLength: row.resultLength,
    structured: row.structured,
    structuredLength: row.structuredLength,
    attachments: row.attachments.map(({ kind, mimeType, bytes, sha256, uri }) => ({
      kind,
      mimeType,
      bytes,
      sha256,
      uri,
    })),
  };
}

function presentDelivery(row: Delivery) {
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

function presentSkipped({ skippedCount, scheduledFor, skippedUntil }: Run) {
  if (skippedCount === null || scheduledFor === null || skippedUntil === null) return null;
  return { count: skippedCount, from: iso(scheduledFor), until: iso(skippedUntil) };
}

function presentUsage(row: RunUsage) {
  return {
    inputTokens: row.inputTokens,
    cachedInputTokens: row.cachedInputTokens,
    outputTokens: row.outputTokens,
    reasoningTokens: row.reasoningTokens,
    totalTokens: row.inputTokens + row.outputTokens,
    costUsd: row.costUsd,
  };
}
