import { setTimeout as sleep } from 'node:timers/promises';
import { runBareWorkflow } from './bare/client.ts';
import { alternate, timed } from './harness/measure.ts';
import { type Benchmark, compared } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine } from './harness/service.ts';

const runLatency: Benchmark = {
  about:
    'one run at a time on an idle service, from POST to succeeded on record, against a bare workflow from start to result',
  async run({ stack, service: shared, long }) {
    const service = await shared();
    const bare = await stack.run('Bare worker', 'bench/bare/worker.ts', {
      TEMPORAL_ADDRESS: service.temporalAddress,
    });
    const watch = await watchRuns(service);
    try {
      const routineId = await demoRoutine(service);
      const run = () => runToSuccess(service, watch, routineId);
      const workflow = () => runBareWorkflow(service.temporal);
      // A pause before each, longer than any poll, so that no measurement rides on the one before.
      const idle = async (work: () => Promise<void>) => {
        await sleep(100);
        return timed(work);
      };
      await alternate(10, { value: () => idle(run), baseline: () => idle(workflow) });
      const rounds = await alternate(long ? 200 : 60, {
        value: () => idle(run),
        baseline: () => idle(workflow),
      });
      return [compared('latency of a run', 'ms', rounds, { atMost: 1.5 })];
    } finally {
      await watch.stop();
      await bare.stop();
    }
  },
};

export default runLatency;
