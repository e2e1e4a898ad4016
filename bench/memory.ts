import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '#dev/child.ts';
import { type Benchmark, compared, plain } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine, residentMb, startService } from './harness/service.ts';

const IN_FLIGHT = 16;

/** Two, as the second collects what finalizers let go of in the first. */
const COLLECTIONS = 2;

const memory: Benchmark = {
  about:
    'resident memory of API and worker: at rest, at work, and what is left after more runs against fewer, garbage collected',
  async run({ stack, long }) {
    const [few, many] = long ? [1_000, 10_000] : [1_000, 3_000];
    const preload = new URL('harness/collect-on-signal.ts', import.meta.url).href;
    const service = await startService(stack, { env: { NODE_OPTIONS: `--import=${preload}` } });
    const watch = await watchRuns(service);
    const { api, worker } = service;
    if (worker === undefined) throw new Error('the service has no worker');
    try {
      const routineId = await demoRoutine(service);
      const rest = await held(api, worker);
      let done = 0;
      /** Returns the memory of both during the last `few / 2` runs up to `count`, and what is held after them. */
      const runUntil = async (count: number) => {
        const samples: Memory[] = [];
        const keepRunning = async () => {
          while (done < count) {
            done += 1;
            await runToSuccess(service, watch, routineId);
            if (done > count - few / 2) samples.push(await both(api, worker));
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, keepRunning));
        const atWork = { api: samples.map((at) => at.api), worker: samples.map((at) => at.worker) };
        return { atWork, held: await held(api, worker) };
      };
      const afterFew = await runUntil(few);
      const afterMany = await runUntil(many);
      return [
        plain('API at rest', 'MB', [rest.api]),
        plain('worker at rest', 'MB', [rest.worker]),
        plain(`API at work, up to the ${few}th run`, 'MB', afterFew.atWork.api),
        plain(`API at work, up to the ${many}th run`, 'MB', afterMany.atWork.api),
        plain(`worker at work, up to the ${few}th run`, 'MB', afterFew.atWork.worker),
        plain(`worker at work, up to the ${many}th run`, 'MB', afterMany.atWork.worker),
        growth(`API after ${many} runs against ${few}`, afterMany.held.api, afterFew.held.api),
        growth(
          `worker after ${many} runs against ${few}`,
          afterMany.held.worker,
          afterFew.held.worker,
        ),
      ];
    } finally {
      await watch.stop();
      await service.stop();
    }
  },
};

export default memory;

interface Memory {
  readonly api: number;
  readonly worker: number;
}

async function both(api: Child, worker: Child): Promise<Memory> {
  return { api: await residentMb(api), worker: await residentMb(worker) };
}

/** Returns the memory that is left when all garbage is collected. */
async function held(api: Child, worker: Child): Promise<Memory> {
  for (let round = 0; round < COLLECTIONS; round += 1) {
    for (const { pid } of [api, worker]) process.kill(pid, 'SIGUSR2');
    await sleep(2_000);
  }
  return both(api, worker);
}

function growth(what: string, value: number, baseline: number) {
  return compared(what, 'MB', { value: [value], baseline: [baseline] }, { atMost: 1.2 });
}
