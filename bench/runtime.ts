import { setTimeout as sleep } from 'node:timers/promises';
import { createModelCaller } from '#core/runs/index.ts';
import type { ModelCall } from '#core/runs/model-call.ts';
import { startAccounts, type Accounts } from './harness/accounts.ts';
import { alternate, timed } from './harness/alternate.ts';
import type { Bench, Benchmark } from './harness/benchmark.ts';
import { compared, plain, quantile, type Figure } from './harness/figures.ts';
import { startHogs } from './harness/hogs.ts';

/** Long enough for the session that was used to be replaced. */
const PAUSE_MS = 400;
/** Until hogs are known for what they are, and have lost their priority. */
const UNNOTICED_MS = 5_000;

const runtime: Benchmark = {
  about:
    'a model call through the provider runtime, its issue and its outcome in the database included, against the same step at the fixture gateway; then calls beside sessions that hog the machine',
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
  const direct = createModelCaller({
    baseUrl: stack.gatewayUrl,
    apiKey: 'fixture',
    timeoutMs: 30_000,
  });
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
  return {
    modelId: 'fixture/writer-small',
    instructions: 'You are careful.',
    messages: [{ role: 'user', content: 'Write the weekly report.' }],
    tools: {},
    signal: new AbortController().signal,
  };
}

/** Rounds of calls without and with hogs in turn, so that whatever else the machine does falls on both. */
async function besideHogs({ long, note }: Bench, accounts: Accounts): Promise<Figure[]> {
  const calls = long ? 200 : 80;
  const p99 = async () => {
    const times: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      await sleep(PAUSE_MS);
      times.push(await timed(() => accounts.call()));
    }
    return quantile(
      times.toSorted((a, b) => a - b),
      0.99,
    );
  };
  const hogged = async () => {
    const hogs = startHogs();
    try {
      await sleep(UNNOTICED_MS);
      return await p99();
    } finally {
      await hogs.stop();
      note(`The hogs ended by themselves ${hogs.ended()} times, and were started again.`);
    }
  };
  const rounds = await alternate(long ? 5 : 2, { value: hogged, baseline: p99 });
  return [compared('p99 of calls beside hogs', 'ms', rounds, { atMost: 1.1 })];
}

export default runtime;
