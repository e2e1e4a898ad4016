import type { RunDetail } from '#core/runs/index.ts';
import type { Config } from '#lib/config/index.ts';

export type WorkflowUrlConfig = Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;

/** Returns where the Temporal UI shows the workflow of a run, whose id is that of the run. */
export function workflowUrl(
  { id, state, startedAt }: Pick<RunDetail, 'id' | 'state' | 'startedAt'>,
  { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace }: WorkflowUrlConfig,
): string | null {
  // What was cancelled or passed over in the queue may never have had one; a preflight that failed did.
  const hadWorkflow = startedAt !== null || state === 'failed';
  if (ui === undefined || !hadWorkflow) return null;
  return `${ui.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${id}`;
}
