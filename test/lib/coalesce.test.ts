import { expect, test } from 'vitest';
import { createCoalescer } from '#lib/coalesce.ts';

/** Makes work whose calls end when the test says so. */
function heldWork() {
  const calls: { callers: number; end: (result: string) => void; fail: (why: Error) => void }[] = [];
  const work = (callers: number) => new Promise<string>((end, fail) => calls.push({ callers, end, fail }));
  return { calls, work };
}

/** Lets all pending promises continue that wait only for their turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a call that comes alone begins in the next turn and is the only one of its kind', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const first = coalesced('key', work);
  await settle();
  expect(calls.map(({ callers }) => callers)).toEqual([1]);
  calls[0]!.end('a');
  expect(await first).toEqual({ shared: 'a', place: 0, callers: 1 });
});

test('those that arrive in one turn of the event loop go together', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const together = [coalesced('key', work), coalesced('key', work)];
  await settle();
  expect(calls.map(({ callers }) => callers)).toEqual([2]);
  calls[0]!.end('a');
  expect(await Promise.all(together)).toEqual([
    { shared: 'a', place: 0, callers: 2 },
    { shared: 'a', place: 1, callers: 2 },
  ]);
});

test('those that arrive while a call is under way share the next one, each with a place of its own', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const first = coalesced('key', work);
  await settle();
  const later = [coalesced('key', work), coalesced('key', work), coalesced('key', work)];
  await settle();
  expect(calls).toHaveLength(1);
  calls[0]!.end('a');
  await settle();
  expect(calls.map(({ callers }) => callers)).toEqual([1, 3]);
  calls[1]!.end('b');
  expect(await first).toEqual({ shared: 'a', place: 0, callers: 1 });
  expect(await Promise.all(later)).toEqual([
    { shared: 'b', place: 0, callers: 3 },
    { shared: 'b', place: 1, callers: 3 },
    { shared: 'b', place: 2, callers: 3 },
  ]);
});

test('a caller that comes after a call has begun is served by the next one, so no result is older than its question', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const first = coalesced('key', work);
  await settle();
  const second = coalesced('key', work);
  calls[0]!.end('a');
  await settle();
  const third = coalesced('key', work);
  calls[1]!.end('b');
  await settle();
  calls[2]!.end('c');
  const served = await Promise.all([first, second, third]);
  expect(served.map(({ shared }) => shared)).toEqual(['a', 'b', 'c']);
});

test('a failure is told to each of its callers, and the next call is a new attempt', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const first = coalesced('key', work);
  await settle();
  const shared = [coalesced('key', work), coalesced('key', work)];
  calls[0]!.end('a');
  await first;
  await settle();
  const next = coalesced('key', work);
  calls[1]!.fail(new Error('the database is away'));
  const told = await Promise.allSettled(shared);
  expect(told).toEqual([
    { status: 'rejected', reason: new Error('the database is away') },
    { status: 'rejected', reason: new Error('the database is away') },
  ]);
  await settle();
  calls[2]!.end('c');
  expect(await next).toEqual({ shared: 'c', place: 0, callers: 1 });
});

test('calls with different keys do not wait for each other', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  const waiting = coalesced('one', work);
  const other = coalesced('two', work);
  await settle();
  expect(calls).toHaveLength(2);
  calls[1]!.end('b');
  expect(await other).toMatchObject({ shared: 'b' });
  calls[0]!.end('a');
  await waiting;
});

test('a key without waiting callers makes a new call', async () => {
  const { calls, work } = heldWork();
  const coalesced = createCoalescer<string>();
  for (const result of ['a', 'b']) {
    const call = coalesced('key', work);
    await settle();
    calls.at(-1)!.end(result);
    expect(await call).toEqual({ shared: result, place: 0, callers: 1 });
    await settle();
  }
  expect(calls.map(({ callers }) => callers)).toEqual([1, 1]);
});
