import { startHostileTools, type HostileTools } from '#dev/hostile-tools/server.ts';
import { activeRoutine } from '#test/support/routines.ts';
import { runBareToolCalls } from './bare/client.ts';
import { alternate, rateFor, timed, warmUp } from './harness/measure.ts';
import { type Benchmark, compared, plain } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { startService, type Service } from './harness/service.ts';

const IN_FLIGHT = 8;
const NAMES = ['tool-one', 'tool-two', 'tool-three', 'tool-four', 'tool-five'];

const tools: Benchmark = {
  about: `runs with five tool calls a second, ${IN_FLIGHT} in flight, against a bare workflow whose activities make the same calls with the same clients and list no tools; and discovery of 1,000 tools`,
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
      await warmUp(IN_FLIGHT, { value: run, baseline: calls });
      const rates = await alternate(long ? 27 : 9, {
        value: () => rateFor(seconds, IN_FLIGHT, run),
        baseline: () => rateFor(seconds, IN_FLIGHT, calls),
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

export default tools;

/** The fixture model calls every tool that its prompt names once, and then ends. */
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

async function discover(
  service: Service,
  routineId: string,
  url: string,
): Promise<{ id: string }[]> {
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
