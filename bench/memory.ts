import type { Child } from '#dev/child.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { compared, plain, sampleOf } from './harness/figures.ts';
import { runToSuccess, watchRuns } from './harness/run-watch.ts';
import { demoRoutine, residentMb, startService } from './harness/service.ts';

const IN_FLIGHT = 16;

const memory: Benchmark = {
  about:
    'resident memory of API and worker: at rest, under load, and whether it grows with the number of runs',
  async run({ stack, long }) {
    const [few, many] = long ? [1_000, 10_000] : [1_000, 3_000];
    const service = await startService(stack);
    const watch = await watchRuns(service);
    const { api, worker } = service;
    if (worker === undefined) throw new Error('the service has no worker');
    try {
      const routineId = await demoRoutine(service);
      const rest = await both(api, worker);
      let done = 0;
      /** What both take during the last `few / 2` runs up to `count`: garbage collection moves each by a third. */
      const runUntil = async (count: number) => {
        const samples: Memory[] = [];
        const lane = async () => {
          while (done < count) {
            done += 1;
            await runToSuccess(service, watch, routineId);
            if (done > count - few / 2) samples.push(await both(api, worker));
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
        return { api: samples.map((at) => at.api), worker: samples.map((at) => at.worker) };
      };
      const afterFew = await runUntil(few);
      const afterMany = await runUntil(many);
      return [
        plain('API at rest', 'MB', [rest.api]),
        plain('worker at rest', 'MB', [rest.worker]),
        growth(`API after ${many} runs against ${few}`, afterMany.api, afterFew.api),
        growth(`worker after ${many} runs against ${few}`, afterMany.worker, afterFew.worker),
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

function growth(what: string, value: readonly number[], baseline: readonly number[]) {
  const medians = {
    value: [sampleOf(value).median],
    baseline: [sampleOf(baseline).median],
  };
  return compared(what, 'MB', medians, { atMost: 1.2 });
}
