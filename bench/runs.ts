import { setTimeout as sleep } from 'node:timers/promises';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { Child } from '#dev/stack/child.ts';
import { freePort } from '#dev/stack/ports.ts';
import { activeRoutine } from '#test/support/routines.ts';
import { runBareWorkflow, runBareToolCalls } from './bare/client.ts';
import { alternate, timed, rateFor, warmUp } from './harness/measure.ts';
import { type Benchmark, type Benchmarks, compared, plain } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine, startService, type Service, untilReady } from './harness/service.ts';
import type { Stack } from './harness/stack.ts';

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
      // Wait longer than any poll interval first, so that no measurement profits from the measurement before.
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

const RUNS_IN_FLIGHT = 16;

const runsThroughput: Benchmark = {
  about: `runs a second from POST to succeeded on record, an instant model, ${RUNS_IN_FLIGHT} in flight, against a bare workflow with one empty activity`,
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
      await warmUp(RUNS_IN_FLIGHT, { value: run, baseline: workflow });
      const rounds = await alternate(long ? 45 : 15, {
        value: () => rateFor(seconds, RUNS_IN_FLIGHT, run),
        baseline: () => rateFor(seconds, RUNS_IN_FLIGHT, workflow),
      });
      note(`Each round: ${seconds} s of runs, ${seconds} s of bare workflows.`);
      return [compared('runs a second', '/s', rounds, { atLeast: 0.85 })];
    } finally {
      await watch.stop();
      await bare.stop();
    }
  },
};

const TOOL_RUNS_IN_FLIGHT = 8;
const NAMES = ['tool-one', 'tool-two', 'tool-three', 'tool-four', 'tool-five'];

const tools: Benchmark = {
  about: `runs with five tool calls a second, ${TOOL_RUNS_IN_FLIGHT} in flight, against a bare workflow whose activities make the same calls with the same clients and list no tools; and discovery of 1,000 tools`,
  async run({ stack, long, note }) {
    const toolServer = await startHostileTools();
    toolServer.control.tools = NAMES.map((name) => ({
      name,
      description: 'Answers at once.',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    }));
    const service = await startService(stack, {
      env: { NODE_ENV: 'development', ALLOW_PRIVATE_NETWORK: 'true' },
    });
    const bare = await stack.run('Bare tools worker', 'bench/bare/tools-worker.ts', {
      TEMPORAL_ADDRESS: service.temporalAddress,
      GATEWAY_URL: stack.gatewayUrl,
      TOOLS_URL: toolServer.url('honest'),
    });
    const watch = await watchRuns(service);
    try {
      const routineId = await routineWithTools(service, toolServer);
      const run = () => runToSuccess(service, watch, routineId);
      const calls = () => runBareToolCalls(service.temporal, NAMES);
      const seconds = 5;
      await warmUp(TOOL_RUNS_IN_FLIGHT, { value: run, baseline: calls });
      const rates = await alternate(long ? 27 : 9, {
        value: () => rateFor(seconds, TOOL_RUNS_IN_FLIGHT, run),
        baseline: () => rateFor(seconds, TOOL_RUNS_IN_FLIGHT, calls),
      });
      toolServer.control.seen.length = 0;
      await run();
      note(`One run asks the tool server: ${toolServer.control.seen.join(', ')}.`);
      return [
        compared('runs of five calls a second', '/s', rates, { atLeast: 0.9 }),
        plain('discovery of 1,000 tools', 'ms', await discoveries(service, toolServer)),
      ];
    } finally {
      await watch.stop();
      await bare.stop();
      await service.stop();
      await toolServer.stop();
    }
  },
};

/** Creates a routine whose instructions name every tool. The fixture model calls each tool once and then ends. */
async function routineWithTools(service: Service, toolServer: HostileTools): Promise<string> {
  const { client } = service;
  const routineId = await activeRoutine(client, { instructions: `Use ${NAMES.join(', ')}.` });
  const found = await discover(service, routineId, toolServer.url('honest'));
  for (const { id } of found) {
    await client.patch(`/v1/routines/${routineId}/tools/${id}`, {
      confirmAutomaticExecution: true,
    });
  }
  return routineId;
}

async function discoveries(service: Service, toolServer: HostileTools): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const routineId = await activeRoutine(service.client);
    const connectionId = await connect(service, toolServer.url('many'));
    const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
    times.push(await timed(() => service.client.post(path)));
  }
  return times;
}

async function discover(service: Service, routineId: string, url: string): Promise<{ id: string }[]> {
  const connectionId = await connect(service, url);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  const { data } = await service.client.post(path);
  return data.tools;
}

async function connect(service: Service, url: string): Promise<string> {
  const { status, data, body } = await service.client.post('/v1/connections', {
    name: 'bench',
    url,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return data.id;
}

const WORKERS = 3;
const SLOTS = 10;
const CALL_MS = 2_000;

const replicas: Benchmark = {
  about: `two APIs, ${WORKERS} workers of ${SLOTS} slots and pgbouncer in transaction mode (has to be installed) against one API, one worker and no pooler, on the same cores`,
  async run({ stack, long }) {
    const one = await start(stack, 1);
    const many = await start(stack, WORKERS);
    try {
      await warmUp(RUNS_IN_FLIGHT, { value: many.run, baseline: one.run });
      const rates = (width: number, seconds: number) =>
        alternate(long ? 15 : 3, {
          value: () => rateFor(seconds, width, many.run),
          baseline: () => rateFor(seconds, width, one.run),
        });
      const instant = await rates(RUNS_IN_FLIGHT, 5);
      await stack.scriptGateway({ times: null, latencyMs: CALL_MS });
      // Keep more runs open than either setup has slots, so that runs wait in both.
      const slow = await rates(2 * WORKERS * SLOTS, 3 * (CALL_MS / 1_000));
      return [
        compared('runs a second, a model that answers at once', '/s', instant),
        compared(`runs a second, model calls of ${CALL_MS / 1_000} s`, '/s', slow, {
          atLeast: 0.8 * WORKERS,
        }),
      ];
    } finally {
      await stack.scriptGateway(undefined);
      await Promise.all([one.stop(), many.stop()]);
    }
  },
};

/** Starts this number of workers; with more than one also a second API, and a pooler in front of Postgres. */
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
    run: () => {
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

export default {
  'run-latency': runLatency,
  'runs-throughput': runsThroughput,
  replicas,
  tools,
} satisfies Benchmarks;
