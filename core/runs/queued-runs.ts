import type { QueuedRuns } from '#core/routines/index.ts';
import { afterCommit } from '#lib/database/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Admission } from './admission/admission.ts';
import { skip } from './ending.ts';
import { skipUnwanted } from './unwanted.ts';

/** Skips queued runs for the subject that owns routines, and lets others in once that is committed. */
export function createQueuedRuns(deps: { metrics: Metrics; admission: Admission }): QueuedRuns {
  return {
    async skip(tx, routineIds, reason) {
      const skipped = await skipUnwanted(tx, routineIds, reason);
      if (skipped === 0) return;
      afterCommit(tx, () => {
        for (let run = 0; run < skipped; run += 1) deps.metrics.runEnded(skip(reason));
        deps.admission.nudge();
      });
    },
  };
}
