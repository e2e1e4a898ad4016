import { setImmediate as turnOver } from 'node:timers/promises';

interface Coalesced<T> {
  readonly shared: T;
  /** The caller's place among the callers that the call served, from 0. */
  readonly place: number;
  /** Number of callers that the call served. */
  readonly callers: number;
}

/**
 * Coalesces calls with the same key: while a call of `work` is running, new callers wait together and share the next
 * call. So each caller gets the result of a call that began after the caller's request. (DataLoader would start a batch
 * each turn of the event loop, even while a batch is running; calls that lock the same row would then queue.)
 * @param work gets the number of callers that the call serves
 */
export function createCoalescer<T>(): (key: string, work: (callers: number) => Promise<T>) => Promise<Coalesced<T>> {
  interface Queue {
    waiting: ((served: Promise<{ shared: T; callers: number }>) => void)[];
  }
  const queues = new Map<string, Queue>();

  async function share(work: (callers: number) => Promise<T>, callers: number) {
    return { shared: await work(callers), callers };
  }

  async function serve(key: string, queue: Queue, work: (callers: number) => Promise<T>) {
    // Wait, so that callers in the same turn of the event loop share even the first call.
    await turnOver();
    while (queue.waiting.length > 0) {
      const served = queue.waiting;
      queue.waiting = [];
      const call = share(work, served.length);
      for (const resolve of served) resolve(call);
      // Ignore a failure, which the callers of this call get; the next call is a new attempt.
      await call.catch(() => undefined);
    }
    queues.delete(key);
  }

  return async (key, work) => {
    let queue = queues.get(key);
    const idle = queue === undefined;
    if (queue === undefined) queues.set(key, (queue = { waiting: [] }));
    const place = queue.waiting.length;
    const served = new Promise<{ shared: T; callers: number }>((resolve) => {
      queue.waiting.push(resolve);
    });
    if (idle) void serve(key, queue, work);
    return { ...(await served), place };
  };
}

/**
 * Returns a function that computes its result once for each object and keeps it as long as the object lives. Use it for
 * results of immutable objects that many callers need.
 */
export function oncePerObject<T extends object, R>(compute: (object: T) => R): (object: T) => R {
  const results = new WeakMap<T, { readonly result: R }>();
  return (object) => {
    let found = results.get(object);
    if (found === undefined) results.set(object, (found = { result: compute(object) }));
    return found.result;
  };
}
