import { z } from 'zod';
import {
  FAILURE_CLASSES,
  RUN_REASONS,
  RUN_STATES,
  TRIGGERS,
  type FailureClass,
  type RunReason,
} from '#core/execution/run-states/index.ts';
import { WAITS, type Wait } from '#core/execution/admission/index.ts';
import { MODEL_PROVIDERS } from '#core/models/directory/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { anyId, EXAMPLE, idOf, pageQuery, searchedIn, wordOf } from '../../http/schemas.ts';
import { author } from '../routines/version-schemas.ts';
import { chatDelivery, delivery, notification } from './delivery-schema.ts';
import { gateVerdict } from './gate-schema.ts';
import { changes, changesSummary, data, outcomeFields, outcomes, usage, withheld } from './result-schema.ts';
import { step } from './step-schema.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const waits = Object.keys(WAITS) as [Wait, ...Wait[]];

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
const failureClasses = Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]];

const shortShape = {
  id: idOf('run', EXAMPLE.run),
  routineId: idOf('routine', EXAMPLE.routine),
  routineRevision: z.number().int().meta({
    description:
      'The version that the run executes; below zero for a proposed change that is being tried, or was not taken over.',
  }),
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
  failureClass: z
    .enum(failureClasses)
    .nullable()
    .meta({
      id: 'RunFailureClass',
      description: `Whose fault a failed run is, by its reason: ${Object.entries(FAILURE_CLASSES)
        .map(([name, consequence]) => `\`${name}\` (${consequence})`)
        .join(', ')}.`,
    }),
  errorMessage: z.string().nullable(),
  ...outcomeFields,
  withheld,
  scheduledFor: timestamp.nullable().meta({
    description: 'The instant of the schedule at which the run was due; for a repeated run, that of the original.',
  }),
  runAt: timestamp.nullable().meta({ description: 'The requested time, before which the run does not start.' }),
  backfillId: idOf('backfill', EXAMPLE.backfill)
    .nullable()
    .meta({ description: 'The backfill that the run belongs to.', example: EXAMPLE.backfill }),
  skipped: z
    .strictObject({ count: z.number().int(), from: timestamp, until: timestamp })
    .nullable()
    .meta({ description: 'Number of occurrences that a `skipped` run stands for.' }),
  retryOf: idOf('run', EXAMPLE.run).nullable().meta({
    description: 'The run that this one repeats; it may have been deleted since.',
  }),
  followsUp: idOf('run', EXAMPLE.run).nullable().meta({
    description: 'For a `follow_up`: the run whose result the question is about, which may have been deleted since.',
  }),
  verdict: z
    .strictObject({
      useful: z.boolean(),
      note: z.string().nullable().meta({ description: 'Note of the reader, null once erased.' }),
      by: author.nullable().meta({ description: 'The last writer; null if the account or the key is gone.' }),
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
  stepCount: z.number().int().meta({ description: 'Model steps on record.' }),
  usage,
  cancelRequestedAt: timestamp.nullable(),
  pinned: z.boolean().meta({ description: 'Whether the run is kept beyond the retention of its project.' }),
  contentErasedAt: timestamp.nullable().meta({
    description:
      'When the content of the run was erased: since then prompt, result, data, changes, the texts of its steps and the bodies of its webhook ' +
      'deliveries are null, and its variables empty. Null while the content is kept.',
  }),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
};

const shape = {
  ...shortShape,
  variables: z.record(z.string(), z.string()).meta({ description: 'Values that were given for this run.' }),
  message: z.string().nullable().meta({ description: 'The question of a `follow_up`.' }),
  result: z.string().nullable().meta({ description: 'The text of the last step.' }),
  data,
  changes: changes.nullable().meta({ description: 'Differences of the data; null for a run without data.' }),
};

const routineName = z.string().meta({ description: 'The present name of the routine.' });

export const runSummary = z
  .strictObject({
    ...shortShape,
    routineName,
    resultPreview: z.string().nullable().meta({ description: 'The first 200 characters of the result.' }),
    changes: changesSummary.nullable(),
  })
  .meta({ id: 'RunSummary' });

export const run = z.strictObject(shape).meta({ id: 'Run' });

const nearby = idOf('run', EXAMPLE.run).nullable();

export const runDetail = z
  .strictObject({
    ...shape,
    routineName,
    previousResultId: nearby.meta({
      description:
        'The run with the previous result: the newest earlier one of the routine that succeeded, or failed with a result.',
    }),
    nextResultId: nearby.meta({ description: 'The run with the next result, found in the same way.' }),
    lastGoodRunId: nearby.meta({ description: 'The newest earlier run of the routine that succeeded.' }),
    resultSchema: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'The `resultSchema` of the data; null without data, and when its version is deleted.',
    }),
    queuedSeconds: z.number().nullable().meta({
      description: 'Time that the run waited: until it began or ended, or until now.',
    }),
    waitingFor: z
      .enum(waits)
      .nullable()
      .meta({
        description: `For a run that waits: ${Object.entries(WAITS)
          .map(([wait, why]) => `\`${wait}\` (${why})`)
          .join(', ')}.`,
      }),
    prompt: z.string().nullable().meta({ description: 'The prompt: instructions, skills and facts, rendered.' }),
    briefing: z.string().nullable().meta({
      description:
        'The text that differs in every run: date and time, its trigger, its tools and limits, and the result of the last successful run.',
    }),
    factsVersion: z.number().int().nullable().meta({
      description:
        'The version of the project’s facts that the run got; null for none. `GET /v1/projects/{projectId}/facts/versions/{factsVersion}` has it.',
    }),
    gate: gateVerdict,
    steps: z.array(step),
    wouldHaveDone: z
      .array(
        z.strictObject({
          stepIndex: z.number().int(),
          name: z.string().meta({ description: 'Name that the model uses.' }),
          connectionName: z.string().nullable().meta({ description: 'Null for a tool of the service.' }),
          arguments: z.string().nullable().meta({ description: 'JSON text; null once erased or left out.' }),
        }),
      )
      .meta({ description: 'For a rehearsal: the calls that it did not make, in order.' }),
    textsLeftOutFrom: z.number().int().nullable().meta({
      description:
        'Index of the step from which the texts of models and tools are left out, because there are more than 4,000,000 characters; null when all are present. `GET /v1/runs/{runId}/steps` has them.',
    }),
    webhookDeliveries: z.array(delivery),
    chatDeliveries: z.array(chatDelivery).meta({ description: 'Deliveries of the run to chats.' }),
    notifications: z.array(notification).meta({ description: 'Mails and pings about the run.' }),
    followUps: z
      .array(
        z
          .strictObject({
            id: idOf('run', EXAMPLE.run),
            message: z.string().nullable(),
            state: z.enum(RUN_STATES),
            errorMessage: z.string().nullable(),
            result: z.string().nullable(),
            createdAt: timestamp,
          })
          .meta({ id: 'FollowUp' }),
      )
      .meta({ description: 'The last 50 questions about the result, in order. Each question is a run of its own.' }),
    workflowUrl: z.string().nullable().meta({
      description:
        'Address of the workflow in the Temporal UI; null without a configured UI, and for a run that never had a workflow.',
    }),
  })
  .meta({ id: 'RunDetail' });

export const runQuery = pageQuery('run', {
  q: searchedIn('the name, result, summary or error'),
  state: z.enum(RUN_STATES).optional().meta({ description: 'Only runs in this state.' }),
  trigger: z.enum(TRIGGERS).optional().meta({ description: 'Only runs with this trigger.' }),
  outcome: outcomes.optional().meta({ description: 'Only runs that succeeded with this outcome.' }),
  backfillId: idOf('backfill', EXAMPLE.backfill)
    .optional()
    .meta({ description: 'Only runs of this backfill.', example: EXAMPLE.backfill }),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Only runs created at or after this time.' }),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .optional()
    .meta({ description: 'Only runs created before this time.' }),
});

export const runParams = z.strictObject({ runId: idOf('run', EXAMPLE.run) });

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
