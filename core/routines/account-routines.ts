import type { AccountRoutines } from '#core/model-connections/index.ts';
import { pauseRoutinesOn, type ServicePauses } from './service-pauses.ts';

/** Lets the subject of model accounts pause the routines on one that is gone. */
export function createAccountRoutines(servicePauses: ServicePauses): AccountRoutines {
  return {
    async pauseOn(tx, input) {
      const paused = await pauseRoutinesOn(tx, input);
      await servicePauses.follow(tx, paused);
      return paused.map(({ id }) => id);
    },
  };
}
