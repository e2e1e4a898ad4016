import type { Engine } from '#core/engine/index.ts';
import { kickDeliveries } from '#core/webhooks/index.ts';
import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Admission } from './admission/admission.ts';
import type { RecordedEnd } from './ending.ts';
import type { RunChanges } from './events/changes.ts';

export interface AfterEndDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly runChanges: RunChanges;
}

/**
 * Does everything that follows the end of a run, once the end is committed: counts the run, tells its followers, admits
 * the next one and starts the webhook deliveries. Never throws: a tick starts whatever cannot be started now.
 * @param follow.kicks false where the caller ends several runs and calls `kickDeliveries` once
 */
export async function afterEnd(
  deps: AfterEndDeps,
  end: RecordedEnd,
  { kicks = true }: { readonly kicks?: boolean } = {},
): Promise<void> {
  const { state, reason, failureClass } = end.ending;
  if (end.followed) deps.runChanges.tell(end.runId);
  deps.metrics.runEnded({ state, reason, failureClass });
  if (failureClass === 'platform') {
    deps.log.error({ runId: end.runId, reason }, 'a run failed because of the service itself');
  }
  if (end.othersWait) deps.admission.nudge();
  if (kicks && end.deliveries.length > 0) await kickDeliveries(deps);
}
