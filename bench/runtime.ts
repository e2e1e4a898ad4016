import { setTimeout as sleep } from 'node:timers/promises';
import { callerAt, callOf } from '#test/support/model-caller.ts';
import type { ModelCall } from '#core/steps/model-call.ts';
import { startAccounts, type Accounts } from './harness/accounts.ts';
import { alternate, timed } from './harness/alternate.ts';
import type { Bench, Benchmark } from './harness/benchmark.ts';
import { compared, plain, quantile, type Figure } from './harness/figures.ts';
import { HOGS, startHog } from './harness/hogs.ts';

/** Long enough for the session that was used to be replaced. */
const PAUSE_MS = 400;
/** A start takes that much longer where a hog has one of two cores. */
const PAUSE_BESIDE_HOG_MS = 1_000;
/** Until a hog is known for what it is, and is held to its share. */
const UNNOTICED_MS = 5_000;

const runtime: Benchmark = {
  about:
    'a model call through the provider runtime, its issue and its outcome in the database included, against the same step at the fixture gateway; then calls beside a session that hogs the machine',
  async run(bench) {
    const accounts = await startAccounts(bench.stack);
    try {
      return [...(await overhead(bench, accounts)), ...(await besideHogs(bench, accounts))];
    } finally {
      await accounts.stop();
    }
  },
};

async function overhead({ long, stack }: Bench, accounts: Accounts): Promise<Figure[]> {
  const direct = callerAt(stack.gatewayUrl, { timeoutMs: 30_000 });
  const idle = async (work: () => Promise<unknown>) => {
    await sleep(PAUSE_MS);
    return timed(work);
  };
  const measure = {
    value: () => idle(() => accounts.call()),
    baseline: () => idle(() => direct.call(plainCall())),
  };
  try {
    await alternate(10, measure);
    const rounds = await alternate(long ? 200 : 60, measure);
    const added = rounds.value.map((ms, round) => ms - (rounds.baseline[round] ?? Number.NaN));
    return [
      compared('a call through the runtime', 'ms', rounds),
      plain('added by the runtime', 'ms', added, { atMost: 60 }),
    ];
  } finally {
    await direct.close();
  }
}

/** The same work at the gateway. */
function plainCall(): ModelCall {
  return callOf('fixture/writer-small', {
    instructions: 'You are careful.',
    messages: [{ role: 'user', content: 'Write the weekly report.' }],
  });
}

/**
 * Makes calls without and beside a session that hogs the machine in turn, for each kind of hog, so that other load of
 * the machine falls on both; then compares the slowest of all.
 */
async function besideHogs({ long, note }: Bench, accounts: Accounts): Promise<Figure[]> {
  const beside: number[] = [];
  const alone: number[] = [];
  const call = async (times: number[]) => {
    for (let count = 0; count < 25; count += 1) {
      await sleep(PAUSE_BESIDE_HOG_MS);
      times.push(await timed(() => accounts.call()));
    }
  };
  const callBeside = async (kind: (typeof HOGS)[number]) => {
    const hog = startHog(kind);
    try {
      await sleep(UNNOTICED_MS);
      await call(beside);
      note(`What ${kind} ended by itself ${hog.ended()} times, and was started again.`);
    } finally {
      await hog.stop();
    }
  };
  for (let round = 0; round < (long ? 8 : 2); round += 1) {
    for (const kind of HOGS) {
      await call(alone);
      await callBeside(kind);
    }
  }
  const compare = (part: number, target?: { readonly atMost: number }) => {
    const value = [quantile(sorted(beside), part)];
    const baseline = [quantile(sorted(alone), part)];
    return compared(`p${part * 100} of calls beside a hog`, 'ms', { value, baseline }, target);
  };
  return [compare(0.5), compare(0.95), compare(0.99, { atMost: 1.1 })];
}

function sorted(times: readonly number[]): number[] {
  return times.toSorted((a, b) => a - b);
}

export default runtime;
