import type { QueuedRuns } from '#core/routines/index.ts';
import { afterCommit } from '#lib/database/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Admission } from './admission/admission.ts';
import { skip } from './ending.ts';
import type { RunChanges } from './events/changes.ts';
import { skipUnwanted } from './unwanted.ts';

/** Skips queued runs for the subject that owns routines, and once that is committed tells of it and lets others in. */
export function createQueuedRuns(deps: {
  metrics: Metrics;
  admission: Admission;
  runChanges: RunChanges;
}): QueuedRuns {
  return {
    async skip(tx, routineIds, reason) {
      const skipped = await skipUnwanted(tx, routineIds, reason);
      if (skipped.length === 0) return;
      afterCommit(tx, () => {
        for (const runId of skipped) {
          deps.runChanges.tell(runId);
          deps.metrics.runEnded(skip(reason));
        }
        deps.admission.nudge();
      });
    },
  };
}
