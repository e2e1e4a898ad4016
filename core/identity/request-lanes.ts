import { setImmediate as turnOver } from 'node:timers/promises';

/**
 * Puts calls with the same key into one lane: while a call of `work` is under way, those that arrive wait together
 * and share the next one, which begins after all of them have come. Each therefore sees what a call of its own would
 * see, at the cost of one call for as many as arrive during one.
 *
 * @param work gets the number of callers it serves
 * @returns what the shared call gave, the caller's place among those served (from 0) and how many they were
 */
export function createLanes<T>(): (
  key: string,
  work: (callers: number) => Promise<T>,
) => Promise<{ shared: T; place: number; callers: number }> {
  interface Lane {
    waiting: ((served: Promise<{ shared: T; callers: number }>) => void)[];
  }
  const lanes = new Map<string, Lane>();

  async function share(work: (callers: number) => Promise<T>, callers: number) {
    return { shared: await work(callers), callers };
  }

  async function drive(key: string, lane: Lane, work: (callers: number) => Promise<T>) {
    // What arrives in the same turn of the event loop goes together from the first call on.
    await turnOver();
    while (lane.waiting.length > 0) {
      const served = lane.waiting;
      lane.waiting = [];
      const call = share(work, served.length);
      for (const serve of served) serve(call);
      // Its failure is told to each of its callers; the next call is a new attempt.
      await call.catch(() => undefined);
    }
    lanes.delete(key);
  }

  return async (key, work) => {
    let lane = lanes.get(key);
    const idle = lane === undefined;
    if (lane === undefined) lanes.set(key, (lane = { waiting: [] }));
    const place = lane.waiting.length;
    const served = new Promise<{ shared: T; callers: number }>((resolve) => {
      lane.waiting.push(resolve);
    });
    if (idle) void drive(key, lane, work);
    return { ...(await served), place };
  };
}
