import type { AccountRoutines } from '#core/model-connections/index.ts';
import type { QueuedRuns } from './queued-runs.ts';
import { pauseRoutinesOn } from './writes.ts';

/** Lets the subject of model accounts pause the routines on one that is gone. */
export function createAccountRoutines(queuedRuns: QueuedRuns): AccountRoutines {
  return {
    async pauseOn(tx, input) {
      const paused = await pauseRoutinesOn(tx, input);
      await queuedRuns.skip(tx, paused, 'paused');
      return paused;
    },
  };
}
