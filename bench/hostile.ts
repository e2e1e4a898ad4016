import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from '#dev/ports.ts';
import { createRoutine } from '#test/support/routines.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { compared, type Figure } from './harness/figures.ts';
import { startService, type Service } from './harness/service.ts';

const BOMBS = 30;
/** 63 kB, refused by its size. */
const BOMB = 1_150;
/** Size that is just small enough to be compiled. */
const COMPILED = 600;
/** Number of schemas that are compiled, which takes a good part of a second each. */
const FEW = 5;
const TARGET_MS = 50;

const hostile: Benchmark = {
  about: `the slowest GET /health beside ${BOMBS} requests with a schema of ${BOMB} unions, and beside hostile lists of tools, against the slowest of as many with nothing beside`,
  async run({ stack, long }) {
    const service = await startService(stack, {
      worker: false,
      env: { NODE_ENV: 'development', ALLOW_PRIVATE_NETWORK: 'true' },
    });
    const port = await freePort();
    const tools = await stack.run('Tool server', 'bench/bare/hostile-tools.ts', {
      PORT: String(port),
    });
    try {
      while (!(await isListening(port))) await sleep(50);
      const urlOf = (scenario: string) => `http://127.0.0.1:${port}/${scenario}/mcp`;
      const known = await policyPath(service, urlOf('honest'));
      const unknown = known.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      const rounds = long ? 15 : 5;
      const measure = (what: string, attack: () => Promise<unknown>) =>
        besides(service, { what, rounds, attack });
      const send = (path: string, count: number, unions: number) => {
        // Written beforehand: who measures must not be busy meanwhile.
        const bodies = Array.from({ length: count * (rounds + 1) }, () => schemaBody(unions));
        return () => Promise.all(bodies.splice(0, count).map((body) => patch(service, path, body)));
      };
      return [
        await measure(`${BOMBS} schemas on unknown ids`, send(unknown, BOMBS, BOMB)),
        await measure(`${BOMBS} schemas on known ids`, send(known, BOMBS, BOMB)),
        await measure(`${FEW} schemas that are compiled`, send(known, FEW, COMPILED)),
        await measure('95,000 tools on a page', await discovery(service, urlOf('swarm'))),
        await measure('50 pages of unusable tools', await discovery(service, urlOf('unusable'))),
        await measure('50 pages of 2 MB', await discovery(service, urlOf('heavy'))),
      ];
    } finally {
      await tools.stop();
      await service.stop();
    }
  },
};

export default hostile;

/** Measures the slowest response of `/health` with the attack beside it, and of as many with nothing, in turn. */
async function besides(
  { url }: Service,
  { what, rounds, attack }: { what: string; rounds: number; attack: () => Promise<unknown> },
): Promise<Figure> {
  const value: number[] = [];
  const baseline: number[] = [];
  await attack();
  for (let round = 0; round < rounds; round += 1) {
    let isOver = false;
    const over = attack().finally(() => {
      isOver = true;
    });
    const beside = await probe(url, () => isOver);
    await over;
    value.push(Math.max(...beside));
    const alone = await probe(url, (count) => count >= beside.length);
    baseline.push(Math.max(...alone));
  }
  return {
    ...compared(`slowest /health beside ${what}`, 'ms', { value, baseline }),
    target: { of: 'value', atMost: TARGET_MS },
  };
}

/** Asks for `/health` again and again, and returns the milliseconds of each response. */
async function probe(url: string, isEnough: (count: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  do {
    const started = performance.now();
    const response = await fetch(`${url}/health`);
    await response.arrayBuffer();
    times.push(performance.now() - started);
    if (response.status !== 200) throw new Error(`/health responded ${response.status}`);
    await sleep(2);
  } while (!isEnough(times.length));
  return times;
}

let schemas = 0;

/** Makes a request with a schema that none before it had. */
function schemaBody(unions: number): string {
  schemas += 1;
  const union = { anyOf: [{ type: 'string' }, { type: 'number' }] };
  const properties = Array.from({ length: unions }, (_, index) => [`p${schemas}_${index}`, union]);
  return JSON.stringify({ argumentSchema: { properties: Object.fromEntries(properties) } });
}

async function patch({ client }: Service, path: string, body: string): Promise<void> {
  const response = await client.patch(path, body);
  if (![200, 400, 404].includes(response.status)) throw new Error(JSON.stringify(response.body));
}

async function connect({ client }: Service, url: string): Promise<string> {
  const { data, body } = await client.post('/v1/connections', { name: 'Tools', url });
  if (data === undefined) throw new Error(JSON.stringify(body));
  const routineId = await createRoutine(client);
  return `/v1/routines/${routineId}/connections/${data.id}/discover`;
}

/** Returns how to discover the tools of a server once more. */
async function discovery(service: Service, url: string): Promise<() => Promise<unknown>> {
  const path = await connect(service, url);
  return () => service.client.post(path);
}

/** The path of a policy for a tool of the server. */
async function policyPath(service: Service, url: string): Promise<string> {
  const { client } = service;
  const path = await connect(service, url);
  const { data } = await client.post(path);
  const [, routine = ''] = /^(\/v1\/routines\/[^/]+)/.exec(path) ?? [];
  return `${routine}/tools/${data.tools[0].id}`;
}
