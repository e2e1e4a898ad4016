import type { QueuedRuns, UnwantedReason } from '#core/routines/index.ts';
import { afterCommit, type Db } from '#lib/database/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Admission } from './admission/admission.ts';
import { skip } from './ending.ts';
import type { RunChanges } from './events/changes.ts';
import { skipUnwanted } from './unwanted.ts';

export interface SkipNews {
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly runChanges: RunChanges;
}

/** Skips queued runs for the subject that owns routines; after the commit, reports them and admits others. */
export function createQueuedRuns(news: SkipNews): QueuedRuns {
  return {
    async skip(tx, routineIds, reason) {
      tellSkipped(tx, news, { runIds: await skipUnwanted(tx, routineIds, reason), reason });
    },
  };
}

/** Reports skipped runs after the commit of the transaction that skips them, and admits others. */
export function tellSkipped(
  tx: Db,
  { metrics, admission, runChanges }: SkipNews,
  { runIds, reason }: { readonly runIds: readonly string[]; readonly reason: UnwantedReason },
): void {
  if (runIds.length === 0) return;
  afterCommit(tx, () => {
    for (const runId of runIds) {
      runChanges.tell(runId);
      metrics.runEnded(skip(reason));
    }
    admission.nudge();
  });
}
