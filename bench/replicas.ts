import type { Child } from '#dev/child.ts';
import { freePort } from '#dev/ports.ts';
import { type Benchmark, compared } from './harness/benchmark.ts';
import { alternate, rateFor, warmUp } from './harness/measure.ts';
import { demoRoutine, startService, untilReady } from './harness/service.ts';
import type { Stack } from './harness/stack.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';

const WORKERS = 3;
const SLOTS = 10;
const IN_FLIGHT = 16;
const CALL_MS = 2_000;

const replicas: Benchmark = {
  about: `two APIs, ${WORKERS} workers of ${SLOTS} slots and pgbouncer in transaction mode (has to be installed) against one API, one worker and no pooler, on the same cores`,
  async run({ stack, long }) {
    const one = await start(stack, 1);
    const many = await start(stack, WORKERS);
    try {
      await warmUp(IN_FLIGHT, { value: many.run, baseline: one.run });
      const rates = (width: number, seconds: number) =>
        alternate(long ? 15 : 7, {
          value: () => rateFor(seconds, width, many.run),
          baseline: () => rateFor(seconds, width, one.run),
        });
      const instant = await rates(IN_FLIGHT, 5);
      await stack.scriptGateway({ times: null, latencyMs: CALL_MS });
      // More in flight than all slots, so that runs wait in both.
      const slow = await rates(2 * WORKERS * SLOTS, 3 * (CALL_MS / 1_000));
      return [
        compared('runs a second, a model that answers at once', '/s', instant),
        compared(`runs a second, model calls of ${CALL_MS / 1_000} s`, '/s', slow, {
          atLeast: 0.9 * WORKERS,
        }),
      ];
    } finally {
      await stack.scriptGateway(undefined);
      await Promise.all([one.stop(), many.stop()]);
    }
  },
};

export default replicas;

/** Starts so many workers; with more than one, a second API and a pooler between all of them and Postgres. */
async function start(stack: Stack, workers: number) {
  const env = { WORKER_CONCURRENCY: String(SLOTS) };
  const pooler = workers > 1 ? await stack.startPooler() : undefined;
  const first = await startService(stack, { env, pooler });
  const others: Child[] = [];
  const services = [first];
  if (workers > 1) {
    const PORT = String(await freePort());
    const second = await stack.run('Second API', 'api/server.ts', { ...first.env, PORT });
    others.push(second);
    services.push({ ...first, url: `http://localhost:${PORT}` });
    await untilReady(`http://localhost:${PORT}`, second);
  }
  for (let number = 2; number <= workers; number += 1) {
    others.push(await stack.run(`Worker ${number}`, 'workers/main.ts', first.env));
  }
  const watch = await watchRuns(first);
  const routineId = await demoRoutine(first);
  let turn = 0;
  return {
    run() {
      turn += 1;
      return runToSuccess(services[turn % services.length] ?? first, watch, routineId);
    },
    async stop() {
      await watch.stop();
      await Promise.all(others.map((child) => child.stop()));
      await first.stop();
    },
  };
}
