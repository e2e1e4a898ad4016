import { runBareWorkflow } from './bare/client.ts';
import { alternate, rateFor, warmUp } from './harness/measure.ts';
import { type Benchmark, compared } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine } from './harness/service.ts';

const IN_FLIGHT = 16;

const runsThroughput: Benchmark = {
  about: `runs a second from POST to succeeded on record, an instant model, ${IN_FLIGHT} in flight, against a bare workflow with one empty activity`,
  async run({ stack, service: shared, long, note }) {
    const service = await shared();
    const bare = await stack.run('Bare worker', 'bench/bare/worker.ts', {
      TEMPORAL_ADDRESS: service.temporalAddress,
    });
    const watch = await watchRuns(service);
    try {
      const routineId = await demoRoutine(service);
      const seconds = 3;
      const run = () => runToSuccess(service, watch, routineId);
      const workflow = () => runBareWorkflow(service.temporal);
      await warmUp(IN_FLIGHT, { value: run, baseline: workflow });
      const rounds = await alternate(long ? 45 : 15, {
        value: () => rateFor(seconds, IN_FLIGHT, run),
        baseline: () => rateFor(seconds, IN_FLIGHT, workflow),
      });
      note(`Each round: ${seconds} s of runs, ${seconds} s of bare workflows.`);
      return [compared('runs a second', '/s', rounds, { atLeast: 0.85 })];
    } finally {
      await watch.stop();
      await bare.stop();
    }
  },
};

export default runsThroughput;
