import { failureClassOf, type Run, type RunDetail, type RunSummary } from '#core/runs/index.ts';
import { iso, isoOrNull } from '../../http/schemas.ts';
import { presentDelivery } from './delivery-schema.ts';
import { presentOutcome } from './outcome-schema.ts';
import { presentGateVerdict } from './gate-schema.ts';
import { presentNotification } from './notification-schema.ts';
import { presentChanges, presentChangesSummary } from './result-schema.ts';
import { presentStep } from './step-schema.ts';
import { presentUsage } from './usage-schema.ts';
import { workflowUrl, type WorkflowUrlConfig } from './workflow-url.ts';

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
    textsLeftOutFrom: row.textsLeftOutFrom,
    webhookDeliveries: row.deliveries.map(presentDelivery),
    notifications: row.messages.map(presentNotification),
    workflowUrl: workflowUrl(row, config),
  };
}

function presentSkipped({ skippedCount, scheduledFor, skippedUntil }: Run | RunSummary) {
  if (skippedCount === null || scheduledFor === null || skippedUntil === null) return null;
  return { count: skippedCount, from: iso(scheduledFor), until: iso(skippedUntil) };
}
