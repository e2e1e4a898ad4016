import { expect, test } from 'vitest';
import { installRuntimeOnce } from '#test/support/service.ts';
import { readCorpus, replay, wayOf, type Recorded } from './histories.ts';
import { SCENARIOS } from './scenarios.ts';

installRuntimeOnce();

const corpus = await readCorpus();

const CANCELLED = ['WORKFLOW_EXECUTION_CANCEL_REQUESTED', 'ACTIVITY_TASK_CANCEL_REQUESTED'];
const TICK = [
  'claimDue',
  'dispatch',
  'startDeliveries',
  'expireQueued',
  'sweepRuns',
  'keepHouse',
  'refreshCatalogues',
  'applyRetention',
  'syncPayments',
  'sendMessages',
  'TIMER_STARTED',
  'TIMER_FIRED',
];
const COMPLETED = 'WORKFLOW_EXECUTION_COMPLETED';

/** The expected path of each history. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  'action-sent': ['sendAction', COMPLETED],
  'run-blocked': ['modelStep', COMPLETED],
  'run-cancelled': ['modelStep', ...CANCELLED, 'concludeRun', COMPLETED],
  'run-cancelled-in-tool-call': ['modelStep', 'toolCall', ...CANCELLED, 'concludeRun', COMPLETED],
  'run-failed': ['modelStep', 'ACTIVITY_TASK_FAILED', 'concludeRun', COMPLETED],
  'run-succeeded': ['modelStep', COMPLETED],
  'run-timed-out': ['modelStep', COMPLETED],
  'run-with-tools': ['modelStep', 'toolCall', 'toolCall', 'modelStep', 'toolCall', 'modelStep', COMPLETED],
  'scheduler-continued': [...TICK, ...TICK, 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'],
  'webhook-delivered': ['attemptDelivery', COMPLETED],
};

test('the corpus holds a history of every way that a workflow can go', () => {
  const ways = corpus.map(({ name, history }) => [name, wayOf(history)]);
  expect(Object.fromEntries(ways)).toEqual(WAYS);
  expect(Object.keys(WAYS).toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
});

test('workflows that began under the recorded code go on under the code of today', async () => {
  const results = await replay(corpus);
  expect(results).toEqual(Object.fromEntries(corpus.map(({ name }) => [name, undefined])));
});

test('a history that the code of today would not have written is found out', async () => {
  const tampered = structuredClone(corpus);
  for (const { history } of tampered) {
    const last = history.events.findLast(
      (event: Recorded['history']) => event.activityTaskScheduledEventAttributes !== undefined,
    );
    last.activityTaskScheduledEventAttributes.activityType.name = 'anotherStep';
  }
  expect(await replay(tampered)).toEqual(
    Object.fromEntries(corpus.map(({ name }) => [name, 'DeterminismViolationError'])),
  );
});

const ID = '(run|rtn|prj|whd|act)_[0-9a-z]{26}';

/** Patterns of texts that payloads may contain: ids, words of closed lists, names of tools, and summaries of these. */
const ALLOWED = [
  ID,
  '[a-z_]{2,30}',
  `(manual|schedule) run of ${ID}`,
  `webhook delivery ${ID}, attempt \\d+`,
  `held action ${ID}`,
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

/** Collects every text in the payloads: inputs and results of workflows and activities. */
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
