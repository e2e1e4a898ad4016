import { Runtime } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { readCorpus, replay, type Recorded } from './histories.ts';
import { SCENARIOS } from './scenarios.ts';

const quiet = () => undefined;
Runtime.install({
  logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
});

const corpus = await readCorpus();

test('the corpus holds a history of every way that a workflow can go', () => {
  expect(corpus.map(({ name }) => name)).toEqual(Object.keys(SCENARIOS).toSorted());
});

test('workflows that began under the recorded code go on under the code of today', async () => {
  const results = await replay(corpus);
  expect(results).toEqual(Object.fromEntries(corpus.map(({ name }) => [name, undefined])));
});

test('a history that the code of today would not have written is found out', async () => {
  const other = structuredClone(corpus.find(({ name }) => name === 'run-succeeded')!);
  const scheduled = other.history.events.find(
    (event: Recorded['history']) => event.activityTaskScheduledEventAttributes !== undefined,
  );
  scheduled.activityTaskScheduledEventAttributes.activityType.name = 'anotherStep';
  expect(await replay([{ ...other, name: 'tampered' }])).toEqual({
    tampered: 'DeterminismViolationError',
  });
});

const ID = '(run|rtn|prj|whd)_[0-9a-z]{26}';

/** What the payloads may hold, and nothing else: ids, words of closed lists, names of tools, and summaries of these. */
const ALLOWED = [
  ID,
  '[a-z_]{2,30}',
  `(manual|schedule) run of ${ID}`,
  `webhook delivery ${ID}, attempt \\d+`,
  'model step \\d+',
  'tool [a-z_]+',
  'start queued runs',
].map((pattern) => new RegExp(`^${pattern}$`));

test('only ids and words of closed lists are in a history, and nothing of the machine it was recorded on', () => {
  const words = new Set<string>();
  for (const { history } of corpus) collect(history, words);
  const foreign = [...words].filter((word) => !ALLOWED.some((allowed) => allowed.test(word)));
  expect(foreign).toEqual([]);
  expect(words.size).toBeGreaterThan(10);
  expect(JSON.stringify(corpus)).not.toMatch(/file:|node_modules|\d@/);
});

/** Every text within the payloads: what was handed to workflows and activities, and what they gave back. */
function collect(value: Recorded['history'], words: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (typeof value.data === 'string' && value.metadata?.encoding !== undefined) {
    const text = Buffer.from(value.data, 'base64').toString();
    if (text !== '') texts(JSON.parse(text), words);
  }
  for (const inner of Object.values(value)) collect(inner, words);
}

function texts(value: unknown, words: Set<string>): void {
  if (typeof value === 'string') words.add(value);
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) texts(inner, words);
  }
}
