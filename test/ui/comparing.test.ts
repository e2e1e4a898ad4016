import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearerOf, nextOf, previousOf, type ListRuns, type Placed } from '../../ui/src/format/neighbours.ts';
import { numberBefore } from '../../ui/src/format/past.ts';
import { wordDiff, type LinePair } from '../../ui/src/format/word-diff.ts';

test('words that differ are marked, and the lines make the two texts', () => {
  expect(wordDiff('Tea is 3 €.\nSalt is 1 €.', 'Tea is 4 €.\nSalt is 1 €.')).toMatchObject([
    {
      before: [{ text: 'Tea is ' }, { text: '3', differs: true }, { text: ' €.' }],
      after: [{ text: 'Tea is ' }, { text: '4', differs: true }, { text: ' €.' }],
    },
    { same: true },
  ]);
  const word = fc.constantFrom('a', 'b', ' ', '\n', '.', 'é', '\u{1F600}', '  ', '\r');
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pairs = wordDiff(before, after);
      expect(sideOf(pairs, 'before')).toBe(before);
      expect(sideOf(pairs, 'after')).toBe(after);
      const marked = pairs.some(({ same }) => !same);
      expect(marked).toBe(before !== after);
    }),
  );
});

test('two long texts that have nothing in common are shown line beside line', () => {
  const long = (word: string) => Array.from({ length: 900 }, (_, n) => `${word} ${n}`).join('\n');
  const pairs = wordDiff(long('old'), long('new'));
  expect(pairs).toHaveLength(900);
  expect(sideOf(pairs, 'after')).toBe(long('new'));
});

function sideOf(pairs: readonly LinePair[], side: 'before' | 'after'): string {
  return pairs
    .flatMap((pair) => {
      const stretches = pair[side];
      return stretches === null ? [] : [stretches.map(({ text }) => text).join('')];
    })
    .join('\n');
}

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-25T12:00:00Z');

/** Makes runs, the newest first as the API lists them, and what lists them. */
function world(times: readonly number[]) {
  const runs: Placed[] = times
    .map((at, index) => ({ id: `run_${String(index).padStart(5, '0')}`, createdAt: iso(at) }))
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id));
  return { runs, ...listing(runs) };
}

/** Lists these runs, and counts how often that is asked for. */
function listing(runs: readonly Placed[]) {
  let requests = 0;
  const list: ListRuns<Placed> = (since = '', until = '9', limit) => {
    requests += 1;
    const within = runs.filter(({ createdAt }) => createdAt >= since && createdAt < until);
    return Promise.resolve(within.slice(0, limit));
  };
  return { list, requests: () => requests };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

test('the result before and after is found wherever a run stands, also among those of one instant', async () => {
  const { runs, list } = world([
    ...Array.from({ length: 30 }, (_, week) => NOW - (week + 1) * 7 * DAY),
    // A backfill, whose runs have one time.
    ...Array.from({ length: 150 }, () => NOW - 40 * DAY),
    // Each minute of the last hours.
    ...Array.from({ length: 700 }, (_, minute) => NOW - minute * 60_000),
  ]);
  for (const [index, run] of runs.entries()) {
    expect(await previousOf(run, list), `before ${index}`).toBe(runs[index + 1]);
    expect(await nextOf(run, list, NOW), `after ${index}`).toBe(runs[index - 1]);
  }
});

test('a run that is no result itself finds its place by its time', async () => {
  const { runs, list } = world([NOW - 9 * DAY, NOW - 3 * DAY, NOW - DAY]);
  const failed = { id: 'run_failed', createdAt: iso(NOW - 5 * DAY) };
  expect(await previousOf(failed, list)).toBe(runs[2]);
  expect(await nextOf(failed, list, NOW)).toBe(runs[1]);
});

test('a run of another list is a neighbour where it is nearer, also among those of one instant', async () => {
  const at = (days: number) => NOW - days * DAY;
  const { runs: all } = world([at(9), at(7), at(5), at(5), at(5), at(3), at(1)]);
  const isGood = ({ createdAt }: Placed) => createdAt === iso(at(9)) || createdAt === iso(at(3));
  const { list } = listing(all.filter(isGood));
  const { list: others } = listing(all.filter((run) => !isGood(run)));
  for (const [index, run] of all.entries()) {
    const [previous, next] = [await previousOf(run, list), await nextOf(run, list, NOW)];
    const before = await nearerOf(run, { side: 'before', than: previous }, others);
    const after = await nearerOf(run, { side: 'after', than: next }, others);
    expect([before?.id, after?.id], `${index}`).toEqual([all[index + 1]?.id, all[index - 1]?.id]);
  }
});

test('the newest run asks once for a next one', async () => {
  const { runs, list, requests } = world([NOW - 60_000]);
  const [only] = runs;
  if (only === undefined) throw new Error('There is no run.');
  expect(await nextOf(only, list, NOW)).toBeUndefined();
  expect(requests()).toBe(1);
});

test('what a number was is told by the differences between two runs', () => {
  const by = { list: '/items', key: '/id' };
  const differences = {
    by,
    added: [{ id: 'rice', price: 2 }],
    removed: [],
    changed: [
      { key: 'tea', before: { id: 'tea', price: 3 }, after: { id: 'tea', price: 4 } },
      { key: 'oil', before: { id: 'oil' }, after: { id: 'oil', price: 9 } },
    ],
  };
  expect(numberBefore(4, 'tea', 'price', differences)).toBe(3);
  expect(numberBefore(2, 'rice', 'price', differences)).toBeNull();
  expect(numberBefore(9, 'oil', 'price', differences)).toBeNull();
  expect(numberBefore(1, 'salt', 'price', differences)).toBe(1);
  expect(numberBefore(1, 'salt', 'price', { ...differences, by: null })).toBeNull();
});
