import { failureClassOf } from '#core/execution/run-states/index.ts';
import type { Run, RunDetail, RunSummary } from '#core/execution/runs/index.ts';
import type { Config } from '#lib/config/index.ts';
import { iso, isoOrNull } from '../../http/schemas.ts';
import { presentChatDelivery, presentDelivery, presentNotification } from './delivery-schema.ts';
import { presentGateVerdict } from './gate-schema.ts';
import { presentChanges, presentChangesSummary, presentOutcome, presentUsage } from './result-schema.ts';
import { presentStep } from './step-schema.ts';

export function presentRun(row: Run) {
  return {
    ...presentShort(row),
    variables: { ...row.variables },
    message: row.message,
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
    followsUp: row.followsUp,
    verdict: presentVerdict(row.verdict),
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
    previousResultId: row.previousResultId,
    nextResultId: row.nextResultId,
    lastGoodRunId: row.lastGoodRunId,
    resultSchema: row.resultSchema,
    queuedSeconds: row.queuedSeconds,
    waitingFor: row.waitingFor,
    prompt: row.prompt,
    briefing: row.briefing,
    factsVersion: row.factsVersion,
    gate: presentGateVerdict(row.gate),
    steps: row.steps.map(presentStep),
    wouldHaveDone: row.steps.flatMap(({ index, tool }) =>
      tool?.rehearsed == null
        ? []
        : [{ stepIndex: index, name: tool.name, connectionName: tool.connectionName, arguments: tool.arguments }],
    ),
    textsLeftOutFrom: row.textsLeftOutFrom,
    webhookDeliveries: row.deliveries.map(presentDelivery),
    chatDeliveries: row.chatDeliveries.map(presentChatDelivery),
    notifications: row.messages.map(presentNotification),
    followUps: row.followUps.map((each) => ({
      id: each.id,
      message: each.message,
      state: each.state,
      errorMessage: each.errorMessage,
      result: each.result,
      createdAt: iso(each.createdAt),
    })),
    workflowUrl: workflowUrl(row, config),
  };
}

function presentVerdict(verdict: Run['verdict']) {
  if (verdict === null) return null;
  const { useful, note, by, at } = verdict;
  return { useful, note, by: by && { kind: by.kind, id: by.id, name: by.name }, at: iso(new Date(at)) };
}

function presentSkipped({ skippedCount, scheduledFor, skippedUntil }: Run | RunSummary) {
  if (skippedCount === null || scheduledFor === null || skippedUntil === null) return null;
  return { count: skippedCount, from: iso(scheduledFor), until: iso(skippedUntil) };
}

type WorkflowUrlConfig = Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;

function workflowUrl(
  { id, state, startedAt }: Pick<RunDetail, 'id' | 'state' | 'startedAt'>,
  { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace }: WorkflowUrlConfig,
): string | null {
  // A run that was cancelled or skipped in the queue may have no workflow. A failed preflight has one.
  const hadWorkflow = startedAt !== null || state === 'failed';
  if (ui === undefined || !hadWorkflow) return null;
  return `${ui.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${id}`;
}
