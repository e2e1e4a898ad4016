import { z } from 'zod';
import {
  failureClassOf,
  FAILURE_CLASSES,
  RUN_REASONS,
  RUN_STATES,
  TRIGGERS,
  WAITS,
  type FailureClass,
  type Run,
  type RunDetail,
  type RunReason,
  type RunSummary,
  type Wait,
} from '#core/runs/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, pageQuery, timestamp } from '../../http/schemas.ts';
import { delivery, presentDelivery } from './delivery-schema.ts';
import { outcomeFields, outcomes, presentOutcome } from './outcome-schema.ts';
import { gateVerdict, presentGateVerdict } from './gate-schema.ts';
import { notification, presentNotification } from './notification-schema.ts';
import {
  changes,
  changesSummary,
  data,
  presentChanges,
  presentChangesSummary,
  withheld,
} from './result-schema.ts';
import { presentStep, step } from './step-schema.ts';
import { presentUsage, usage } from './usage-schema.ts';
import { workflowUrl, type WorkflowUrlConfig } from './workflow-url.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const waits = Object.keys(WAITS) as [Wait, ...Wait[]];

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
const failureClasses = Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]];

const shortShape = {
  id: idOf('run', EXAMPLE.run),
  routineId: idOf('routine', EXAMPLE.routine),
  routineRevision: z.number().int(),
  trigger: z.enum(TRIGGERS),
  state: z.enum(RUN_STATES),
  reason: z
    .string()
    .nullable()
    .meta({
      description: `Why it ended so. The list may grow: take a reason that you do not know by the state. ${Object.entries(
        RUN_REASONS,
      )
        .map(([reason, why]) => `\`${reason}\` (${why})`)
        .join(', ')}.`,
      example: 'overlap' satisfies RunReason,
    }),
  failureClass: z
    .enum(failureClasses)
    .nullable()
    .meta({
      description: `Whose fault a failed run is, by its reason: ${Object.entries(FAILURE_CLASSES)
        .map(([name, consequence]) => `\`${name}\` (${consequence})`)
        .join(', ')}.`,
    }),
  errorMessage: z.string().nullable(),
  ...outcomeFields,
  withheld,
  scheduledFor: timestamp.nullable().meta({
    description:
      'The instant of the schedule it stands for, or that the run stands for which this one repeats.',
  }),
  runAt: timestamp.nullable().meta({
    description: 'The time that it was asked for, before which it does not start.',
  }),
  backfillId: idOf('backfill', EXAMPLE.backfill)
    .nullable()
    .meta({ description: 'The backfill that it belongs to.', example: EXAMPLE.backfill }),
  skipped: z
    .strictObject({ count: z.number().int(), from: timestamp, until: timestamp })
    .nullable()
    .meta({ description: 'Of a `skipped` run: the occurrences it accounts for.' }),
  retryOf: z.string().nullable().meta({
    description: 'The run that it repeats, which may have been deleted since.',
  }),
  model: z
    .strictObject({
      provider: z.string(),
      connectionId: z.string().nullable(),
      modelId: z.string(),
    })
    .nullable(),
  stepCount: z.number().int().meta({ description: 'Model steps on record.' }),
  usage,
  cancelRequestedAt: timestamp.nullable(),
  pinned: z
    .boolean()
    .meta({ description: 'Whether it is kept beyond the retention of its project.' }),
  contentErasedAt: timestamp.nullable().meta({
    description:
      'When its content was erased: prompt, result, data, changes, the texts of its steps and the bodies of its webhook deliveries, ' +
      'which are null since, and its variables, which are empty. Null while they are kept.',
  }),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
};

const shape = {
  ...shortShape,
  variables: z.record(z.string(), z.string()).meta({ description: "This run's own values." }),
  result: z.string().nullable().meta({ description: 'The text of its last step.' }),
  data,
  changes: changes.nullable().meta({ description: 'Null unless it has data.' }),
};

const routineName = z.string().meta({ description: 'The name of the routine as it is now.' });

export const runSummary = z
  .strictObject({
    ...shortShape,
    routineName,
    resultPreview: z
      .string()
      .nullable()
      .meta({ description: 'The first 200 characters of the result.' }),
    changes: changesSummary.nullable(),
  })
  .meta({ id: 'RunSummary' });

export const run = z.strictObject(shape).meta({ id: 'Run' });

export const runDetail = z
  .strictObject({
    ...shape,
    routineName,
    queuedSeconds: z.number().nullable().meta({
      description: 'Time that it has waited, or had waited when it began or ended.',
    }),
    waitingFor: z
      .enum(waits)
      .nullable()
      .meta({
        description: `Of a queued run: ${Object.entries(WAITS)
          .map(([wait, why]) => `\`${wait}\` (${why})`)
          .join(', ')}.`,
      }),
    prompt: z
      .string()
      .nullable()
      .meta({ description: 'What the model was given: instructions and skills, rendered.' }),
    briefing: z.string().nullable().meta({
      description:
        'What it was given besides, which is another text in every run: date and time, what started it, its tools and limits, and the result of the last run that succeeded.',
    }),
    gate: gateVerdict,
    steps: z.array(step),
    webhookDeliveries: z.array(delivery),
    notifications: z.array(notification).meta({ description: 'Mails and pings about it.' }),
    workflowUrl: z.string().nullable().meta({
      description:
        'Where the Temporal UI shows its workflow; null where the operator names no such UI, and for a run that never had a workflow.',
    }),
  })
  .meta({ id: 'RunDetail' });

export const runFilters = {
  state: z.enum(RUN_STATES).optional().meta({ description: 'Only those in this state.' }),
  trigger: z.enum(TRIGGERS).optional().meta({ description: 'Only those started so.' }),
  outcome: outcomes.optional().meta({ description: 'Only those that succeeded and came to this.' }),
  backfillId: idOf('backfill', EXAMPLE.backfill)
    .optional()
    .meta({ description: 'Only those of this backfill.', example: EXAMPLE.backfill }),
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

export const runQuery = pageQuery('run', runFilters);
export const runParams = z.strictObject({ runId: idOf('run', EXAMPLE.run) });

export function presentRun(row: Run) {
  return {
    ...presentShort(row),
    variables: { ...row.variables },
    result: row.result,
    data: row.data,
    changes: presentChanges(row),
  };
}

export function presentRunSummary(row: RunSummary) {
  return {
    ...presentShort(row),
    routineName: row.routineName,
    resultPreview: row.resultPreview,
    changes: presentChangesSummary(row),
  };
}

function presentShort(row: Run | RunSummary) {
  return {
    id: row.id,
    routineId: row.routineId,
    routineRevision: row.routineRevision,
    trigger: row.trigger,
    state: row.state,
    reason: row.reason,
    failureClass: failureClassOf(row),
    errorMessage: row.errorMessage,
    ...presentOutcome(row),
    withheld: row.withheld,
    scheduledFor: isoOrNull(row.scheduledFor),
    runAt: isoOrNull(row.runAt),
    backfillId: row.backfillId,
    skipped: presentSkipped(row),
    retryOf: row.retryOf,
    model: row.model,
    stepCount: row.stepCount,
    usage: presentUsage(row.usage),
    cancelRequestedAt: isoOrNull(row.cancelRequestedAt),
    pinned: row.pinned,
    contentErasedAt: isoOrNull(row.contentErasedAt),
    createdAt: iso(row.createdAt),
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
  };
}

export function presentRunDetail(row: RunDetail, config: WorkflowUrlConfig) {
  return {
    ...presentRun(row),
    routineName: row.routineName,
    queuedSeconds: row.queuedSeconds,
    waitingFor: row.waitingFor,
    prompt: row.prompt,
    briefing: row.briefing,
    gate: presentGateVerdict(row.gate),
    steps: row.steps.map(presentStep),
    webhookDeliveries: row.deliveries.map(presentDelivery),
    notifications: row.messages.map(presentNotification),
    workflowUrl: workflowUrl(row, config),
  };
}

function presentSkipped({ skippedCount, scheduledFor, skippedUntil }: Run | RunSummary) {
  if (skippedCount === null || scheduledFor === null || skippedUntil === null) return null;
  return { count: skippedCount, from: iso(scheduledFor), until: iso(skippedUntil) };
}
