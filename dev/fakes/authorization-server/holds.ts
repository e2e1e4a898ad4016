import type { HeldRequest } from './options.ts';

type Moment = 'before' | 'after';

/** Delays single requests until a test releases them, so that the test can act meanwhile. */
export function createHolds() {
  const waiting = new Map<Moment, () => Promise<void>>();
  return {
    /** Delays the next request that reaches this moment. */
    hold: (moment: Moment): HeldRequest => {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      waiting.set(moment, () => {
        arrived.resolve();
        return released.promise;
      });
      return { arrived: arrived.promise, release: released.resolve };
    },
    /** Waits if a test delays requests at this moment. */
    async pass(moment: Moment): Promise<void> {
      const wait = waiting.get(moment);
      waiting.delete(moment);
      await wait?.();
    },
  };
}
