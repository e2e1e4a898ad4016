import { urgencyOf } from '#core/authoring/outcomes/index.ts';
import { failureClassOf } from '#core/execution/run-states/index.ts';
import type { Run, RunDetail, RunSummary } from '#core/execution/runs/index.ts';
import type { Config } from '#lib/config/index.ts';
import { present } from '../../http/present.ts';
import { withTotal } from './result-schema.ts';
import { run, runDetail, runSummary, seenByGate } from './schemas.ts';
import { shownStep } from './step-schema.ts';

export function presentRun(row: Run) {
  return present(run, { ...row, ...shownOf(row) });
}

export function presentRunSummary(row: RunSummary) {
  return present(runSummary, { ...row, ...shownOf(row) });
}

export function presentRunDetail(row: RunDetail, config: WorkflowUrlConfig) {
  return present(runDetail, {
    ...row,
    ...shownOf(row),
    gate: seenByGate(row.gate),
    steps: row.steps.map(shownStep),
    wouldHaveDone: row.steps.flatMap(({ index, tool }) =>
      tool?.rehearsed == null ? [] : [{ ...tool, stepIndex: index }],
    ),
    webhookDeliveries: row.deliveries,
    notifications: row.messages,
    workflowUrl: workflowUrl(row, config),
  });
}

function shownOf(row: Run | RunSummary) {
  return {
    failureClass: failureClassOf(row),
    urgency: urgencyOf(row),
    skipped: skippedOf(row),
    verdict: row.verdict && { ...row.verdict, at: new Date(row.verdict.at) },
    usage: withTotal(row.usage),
  };
}

function skippedOf({ skippedCount, scheduledFor, skippedUntil }: Run | RunSummary) {
  if (skippedCount === null || scheduledFor === null || skippedUntil === null) return null;
  return { count: skippedCount, from: scheduledFor, until: skippedUntil };
}

type WorkflowUrlConfig = Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;

function workflowUrl(
  { id, state, startedAt }: Pick<RunDetail, 'id' | 'state' | 'startedAt'>,
  { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace }: WorkflowUrlConfig,
): string | null {
  // A run that was cancelled or skipped in the queue may have no workflow; a run that failed before its start has one.
  const hadWorkflow = startedAt !== null || state === 'failed';
  if (ui === undefined || !hadWorkflow) return null;
  return `${ui.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${id}`;
}
