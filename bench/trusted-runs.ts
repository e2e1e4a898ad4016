import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { activeRoutine } from '#test/support/routines.ts';
import { runBareWorkflow } from './bare/workflow-calls.ts';
import { alternate, rateFor, warmUp } from './harness/alternate.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { compared } from './harness/figures.ts';
import { runToSuccess, watchRuns } from './harness/run-watch.ts';
import { demoRoutine, startService, type Service } from './harness/service.ts';

const IN_FLIGHT = 16;

const trustedRuns: Benchmark = {
  about: `runs a second with nothing of docs/results.md in use, and with all of it: outcome, checks, schema, gate, delivery of changes, notifications; an instant model, ${IN_FLIGHT} in flight, each against a bare workflow with one empty activity`,
  async run({ stack, long, note }) {
    const page = await startPage();
    // The page of the gate and the receivers are on this machine, which production refuses to ask.
    const service = await startService(stack, {
      env: { NODE_ENV: 'development', ALLOW_PRIVATE_NETWORK: 'true' },
    });
    const bare = await stack.run('Bare worker', 'bench/bare/worker.ts', {
      TEMPORAL_ADDRESS: service.temporalAddress,
    });
    const watch = await watchRuns(service);
    try {
      const ofNothing = await demoRoutine(service);
      const ofAll = await routineOfAll(service, page.url);
      const seconds = 3;
      const workflow = () => runBareWorkflow(service.temporal);
      const against = async (routineId: string) => {
        const run = () => runToSuccess(service, watch, routineId);
        await warmUp(IN_FLIGHT, { value: run, baseline: workflow });
        return alternate(long ? 45 : 15, {
          value: () => rateFor(seconds, IN_FLIGHT, run),
          baseline: () => rateFor(seconds, IN_FLIGHT, workflow),
        });
      };
      const plain = await against(ofNothing);
      const full = await against(ofAll);
      await assertUsed(service, ofAll);
      note(
        `Each round: ${seconds} s of runs, ${seconds} s of bare workflows. Each run of the second kind asks its gate, passes five checks, is compared with the one before and found unchanged, so that its webhook is spared, and queues a success ping. The page was asked ${page.asked('/watched')} times, the webhook told ${page.asked('/webhook')} times, the monitor ${page.asked('/ping')} times.`,
      );
      return [
        compared('runs a second, nothing in use', '/s', plain, { atLeast: 0.85 }),
        compared('runs a second, all in use', '/s', full, { atLeast: 0.8 }),
      ];
    } finally {
      await watch.stop();
      await bare.stop();
      await service.stop();
      await page.stop();
    }
  },
};

export default trustedRuns;

const DATA = {
  items: [
    { id: 'tea', source: 'https://a.example/tea' },
    { id: 'rice', source: 'https://b.example/rice' },
  ],
};

/** A routine that uses everything, proven and active. Its fixture model answers with the data and calls `finish`. */
function routineOfAll({ client }: Service, url: string): Promise<string> {
  return activeRoutine(client, {
    instructions: `List what is new in {{gate.value}}.\nDATA ${JSON.stringify(DATA)}\nFINISH done All is listed.`,
    // One that is held to the schema by its request as well.
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' },
    outcome: 'required',
    checks: [
      { type: 'result_not_empty' },
      { type: 'result_matches', pattern: '"items"' },
      { type: 'result_does_not_match', pattern: '(?i:as an ai)' },
      { type: 'distinct_sources', atLeast: 2 },
      { type: 'no_refused_calls' },
    ],
    resultSchema: {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, source: { type: 'string' } },
            required: ['id', 'source'],
          },
        },
      },
      required: ['items'],
    },
    resultKey: { list: '/items', key: '/id' },
    gate: { url: `${url}/watched`, pointers: ['/items'] },
    deliver: 'changed',
    webhookUrl: `${url}/webhook`,
    budget: { maxTokensPerDay: 1_000_000_000 },
    notifications: {
      mail: { on: ['failed', 'paused', 'budget', 'partial', 'recovered'], to: 'owners' },
      successPingUrl: `${url}/ping`,
    },
  });
}

/** Looks at the last run, so that a benchmark of runs that use nothing cannot pass for one of all. */
async function assertUsed({ client }: Service, routineId: string): Promise<void> {
  const [{ id }] = (await client.get(`/v1/routines/${routineId}/runs?limit=1`)).data;
  const { data: run } = await client.get(`/v1/runs/${id}`);
  const used = [
    run.outcome === 'done' && run.outcomeSummary === 'All is listed.',
    run.checks.length === 5,
    run.data?.items?.length === 2,
    run.withheld === 'no_change',
    run.gate?.failed === false,
    run.notifications.length === 1,
    run.stepCount === 1,
  ];
  if (used.includes(false)) throw new Error(`a run did not use all: ${JSON.stringify(run)}`);
}

/** Serves what the gate watches, and takes what the service tells. */
async function startPage() {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    seen.set(pathname, (seen.get(pathname) ?? 0) + 1);
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(pathname === '/watched' ? '{"items":["tea","rice"]}' : '{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: (path: string) => seen.get(path) ?? 0,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
