import { z } from 'zod';
import {
  FAILURE_CLASSES,
  RUN_REASONS,
  RUN_STATES,
  TRIGGERS,
  type RunReason,
} from '#core/execution/run-states/index.ts';
import { WAITS } from '#core/execution/admission/index.ts';
import { MODEL_PROVIDERS } from '#core/models/directory/index.ts';
import { keyOf, timestamp } from '#lib/schemas.ts';
import { anyId, component, EXAMPLE, idOf, meaningsOf, pageQuery, searchedIn, wordOf } from '../../http/schemas.ts';
import { author } from '../routines/version-schemas.ts';
import { chatDelivery, delivery, notification } from './delivery-schema.ts';
import { changes, changesSummary, data, outcomeFields, outcomes, usage, withheld } from './result-schema.ts';
import { step } from './step-schema.ts';
import { cut } from '#lib/text.ts';
import { GATE_REASONS, type GateVerdict } from '#core/execution/gate/index.ts';

const PREVIEW_LENGTH = 200;

const gateVerdict = z
  .strictObject({
    at: timestamp,
    asked: z
      .strictObject({
        tool: z.strictObject({ policyId: idOf('policy'), name: z.string().nullable() }).nullable(),
        url: z.string().nullable().describe('The address that was asked, without its query.'),
        status: z.number().int().nullable().describe('HTTP status of the response.'),
        sent: z.boolean().describe('False when the request was refused or never arrived.'),
      })
      .describe('The call that was made. It costs no tokens.'),
    changed: z
      .boolean()
      .nullable()
      .describe('True when the value differs from that of the last successful run; null when unknown.'),
    failed: z.boolean().describe('True if the gate failed, and woke the model for that reason.'),
    reason: keyOf(GATE_REASONS).describe(`Why the gate woke the model, or did not: ${meaningsOf(GATE_REASONS)}.`),
    error: z.string().nullable(),
    valuePreview: z.string().nullable().describe(`The first ${PREVIEW_LENGTH} characters of the value.`),
    valueLength: z.number().int().nullable(),
  })
  .nullable()
  .meta({ id: 'GateVerdict', description: 'The finding of the gate; null without one.' });

/** Returns the verdict of a gate for a response, with the beginning of the value. */
export function seenByGate(row: GateVerdict | null) {
  return row && { ...row, asked: row.call, valuePreview: row.value === null ? null : cut(row.value, PREVIEW_LENGTH) };
}

const shortShape = {
  id: idOf('run'),
  routineId: idOf('routine'),
  routineRevision: z
    .number()
    .int()
    .describe(
      'The version that the run executes; below zero for a proposed change that is being tried, or was not taken over.',
    ),
  trigger: z.enum(TRIGGERS),
  state: z.enum(RUN_STATES),
  reason: wordOf(RUN_REASONS)
    .nullable()
    .meta({
      id: 'RunReason',
      description: `Reason of the end. The list may grow: treat an unknown reason by the state. The page \`/docs/run-states.md\` explains ${Object.keys(
        RUN_REASONS,
      )
        .map((reason) => `\`${reason}\``)
        .join(', ')}.`,
      example: 'overlap' satisfies RunReason,
    }),
  failureClass: keyOf(FAILURE_CLASSES)
    .nullable()
    .meta({
      id: 'RunFailureClass',
      description: `Whose fault a failed run is, by its reason: ${meaningsOf(FAILURE_CLASSES)}.`,
    }),
  errorMessage: z.string().nullable(),
  ...outcomeFields,
  withheld,
  scheduledFor: timestamp
    .nullable()
    .describe('The instant of the schedule at which the run was due; for a repeated run, that of the original.'),
  runAt: timestamp.nullable().describe('The requested time, before which the run does not start.'),
  backfillId: idOf('backfill')
    .nullable()
    .meta({ description: 'The backfill that the run belongs to.', example: EXAMPLE.backfill }),
  skipped: z
    .strictObject({ count: z.number().int(), from: timestamp, until: timestamp })
    .nullable()
    .describe('Number of occurrences that a `skipped` run stands for.'),
  retryOf: idOf('run').nullable().describe('The run that this one repeats; it may have been deleted since.'),
  followsUp: idOf('run')
    .nullable()
    .describe('For a `follow_up`: the run whose result the question is about, which may have been deleted since.'),
  verdict: z
    .strictObject({
      useful: z.boolean(),
      note: z.string().nullable().describe('Note of the reader, null once erased.'),
      by: author.nullable().describe('The last writer; null if the account or the key is gone.'),
      at: timestamp,
    })
    .nullable()
    .meta({ id: 'RunVerdict', description: 'The opinion of a reader about the result; null without one.' }),
  model: z
    .strictObject({
      provider: wordOf(MODEL_PROVIDERS),
      connectionId: anyId.nullable(),
      modelId: z.string(),
    })
    .nullable(),
  stepCount: z.number().int().describe('Model steps on record.'),
  usage,
  cancelRequestedAt: timestamp.nullable(),
  pinned: z.boolean().describe('Whether the run is kept beyond the retention of its project.'),
  contentErasedAt: timestamp
    .nullable()
    .describe(
      'When the content of the run was erased: since then prompt, result, data, changes, the texts of its steps and the bodies of its webhook ' +
        'deliveries are null, and its variables empty. Null while the content is kept.',
    ),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
};

const shape = {
  ...shortShape,
  variables: z.record(z.string(), z.string()).describe('Values that were given for this run.'),
  message: z.string().nullable().describe('The question of a `follow_up`.'),
  result: z.string().nullable().describe('The text of the last step.'),
  data,
  changes: changes.nullable().describe('Differences of the data; null for a run without data.'),
};

const routineName = z.string().describe('The present name of the routine.');

export const runSummary = component('RunSummary', {
  ...shortShape,
  routineName,
  resultPreview: z.string().nullable().describe('The first 200 characters of the result.'),
  changes: changesSummary.nullable(),
});

export const run = component('Run', shape);

const nearby = idOf('run').nullable();

export const runDetail = component('RunDetail', {
  ...shape,
  routineName,
  previousResultId: nearby.describe(
    'The run with the previous result: the newest earlier one of the routine that succeeded, or failed with a result.',
  ),
  nextResultId: nearby.describe('The run with the next result, found in the same way.'),
  lastGoodRunId: nearby.describe('The newest earlier run of the routine that succeeded.'),
  resultSchema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The `resultSchema` of the data; null without data, and when its version is deleted.'),
  queuedSeconds: z.number().nullable().describe('Time that the run waited: until it began or ended, or until now.'),
  waitingFor: keyOf(WAITS)
    .nullable()
    .describe(`For a run that waits: ${meaningsOf(WAITS)}.`),
  prompt: z.string().nullable().describe('The prompt: instructions, skills and facts, rendered.'),
  briefing: z
    .string()
    .nullable()
    .describe(
      'The text that differs in every run: date and time, its trigger, its tools and limits, and the result of the last successful run.',
    ),
  factsVersion: z
    .number()
    .int()
    .nullable()
    .describe(
      'The version of the project’s facts that the run got; null for none. `GET /v1/projects/{projectId}/facts/versions/{factsVersion}` has it.',
    ),
  gate: gateVerdict,
  steps: z.array(step),
  wouldHaveDone: z
    .array(
      z.strictObject({
        stepIndex: z.number().int(),
        name: z.string().describe('Name that the model uses.'),
        connectionName: z.string().nullable().describe('Name of the connection; null for a tool of the service.'),
        arguments: z.string().nullable().describe('JSON text; null once erased or left out.'),
      }),
    )
    .describe('For a rehearsal: the calls that it did not make, in order.'),
  textsLeftOutFrom: z
    .number()
    .int()
    .nullable()
    .describe(
      'Index of the step from which the texts of models and tools are left out, because there are more than 4,000,000 characters; null when all are present. `GET /v1/runs/{runId}/steps` has them.',
    ),
  webhookDeliveries: z.array(delivery),
  chatDeliveries: z.array(chatDelivery).describe('Deliveries of the run to chats.'),
  notifications: z.array(notification).describe('Mails and pings about the run.'),
  followUps: z
    .array(
      component('FollowUp', {
        id: idOf('run'),
        message: z.string().nullable(),
        state: z.enum(RUN_STATES),
        errorMessage: z.string().nullable(),
        result: z.string().nullable(),
        createdAt: timestamp,
      }),
    )
    .describe('The last 50 questions about the result, in order. Each question is a run of its own.'),
  workflowUrl: z
    .string()
    .nullable()
    .describe(
      'Address of the workflow in the Temporal UI; null without a configured UI, and for a run that never had a workflow.',
    ),
});

export const runQuery = pageQuery('run', {
  q: searchedIn('the name, result, summary or error'),
  state: z.enum(RUN_STATES).optional().describe('Only runs in this state.'),
  trigger: z.enum(TRIGGERS).optional().describe('Only runs with this trigger.'),
  outcome: outcomes.optional().describe('Only runs that succeeded with this outcome.'),
  backfillId: idOf('backfill')
    .optional()
    .meta({ description: 'Only runs of this backfill.', example: EXAMPLE.backfill }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .describe('Only runs created at or after this time.'),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .describe('Only runs created before this time.'),
});

export const runParams = z.strictObject({ runId: idOf('run') });

/** Fields of a run about its result. */
export const RUN_VIEW = [
  'id',
  'routineId',
  'routineName',
  'trigger',
  'state',
  'reason',
  'failureClass',
  'errorMessage',
  'outcome',
  'outcomeSummary',
  'checks',
  'warnings',
  'waitingFor',
  'model',
  'stepCount',
  'usage',
  'result',
  'data',
  'changes',
  'wouldHaveDone',
  'createdAt',
  'startedAt',
  'finishedAt',
] as const;
