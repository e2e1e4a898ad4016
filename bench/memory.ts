import type { Child } from '#dev/child.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { compared, plain } from './harness/figures.ts';
import { runToSuccess, watchRuns } from './harness/run-watch.ts';
import { demoRoutine, residentMb, startService } from './harness/service.ts';

const IN_FLIGHT = 16;

const memory: Benchmark = {
  about:
    'resident memory of API and worker: at rest, under load, and whether it grows with the number of runs',
  async run({ stack, long }) {
    const [few, many] = long ? [1_000, 10_000] : [500, 2_000];
    const service = await startService(stack);
    const watch = await watchRuns(service);
    const { api, worker } = service;
    if (worker === undefined) throw new Error('the service has no worker');
    try {
      const routineId = await demoRoutine(service);
      const rest = await both(api, worker);
      let done = 0;
      const runUntil = async (count: number) => {
        const lane = async () => {
          while (done < count) {
            done += 1;
            await runToSuccess(service, watch, routineId);
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
        return both(api, worker);
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

async function both(api: Child, worker: Child): Promise<{ api: number; worker: number }> {
  return { api: await residentMb(api), worker: await residentMb(worker) };
}

function growth(what: string, value: number, baseline: number) {
  return compared(what, 'MB', { value: [value], baseline: [baseline] }, { atMost: 1.2 });
}
