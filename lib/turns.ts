/** Creates a function that runs work one after another for each key, and returns `undefined` when the queue is full. */
export function createTurns(maxWaiting: number) {
  const queues = new Map<string, { last: Promise<unknown>; waiting: number }>();

  return async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    const queue = queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting > maxWaiting) return undefined;
    queues.set(key, queue);
    queue.waiting += 1;
    const turn = queue.last.then(work);
    queue.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}
