import { isUnavailable } from './database.ts';

/**
 * Works on items one after the other, also on those behind one that fails: each has a transaction of its own.
 * @param given.failed is told of each failure
 * @throws the signal's reason; an error that means that Postgres is away, at once; any other, the first of them, once
 * all have had their turn
 */
export async function eachApart<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  given: { readonly signal?: AbortSignal; readonly failed: (err: unknown, item: T) => void },
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    given.signal?.throwIfAborted();
    try {
      await work(item);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      given.failed(error, item);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
