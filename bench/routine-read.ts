import autocannon from 'autocannon';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from '#dev/ports.ts';
import { createRoutine } from '#test/support/routines.ts';
import { type Benchmark, compared } from './harness/benchmark.ts';
import { alternate } from './harness/measure.ts';

const CONNECTIONS = 16;
/** Enough that no request profits from another's row. */
const ROUTINES = 100;

const routineRead: Benchmark = {
  about: `GET /v1/routines/:id with an API key, ${CONNECTIONS} connections, against a bare Koa route with one indexed select`,
  async run({ stack, service: shared, long }) {
    const service = await shared();
    const routineIds: string[] = [];
    while (routineIds.length < ROUTINES) routineIds.push(await createRoutine(service.client));
    const port = await freePort();
    const bare = await stack.run('Bare route', 'bench/bare/route.ts', {
      DATABASE_URL: service.databaseUrl,
      PORT: String(port),
    });
    try {
      while (!(await isListening(port))) await sleep(50);
      // Many short turns: a shared machine changes its pace within seconds, and each pair should meet one pace.
      const seconds = long ? 2 : 1;
      const read = () =>
        requestsPerSecond(
          routineIds.map((id) => `${service.url}/v1/routines/${id}`),
          seconds,
          { authorization: service.authorization },
        );
      const select = () =>
        requestsPerSecond(
          routineIds.map((id) => `http://127.0.0.1:${port}/routines/${id}`),
          seconds,
        );
      await read();
      await select();
      const rounds = await alternate(long ? 45 : 21, { value: read, baseline: select });
      return [compared('reads a second', '/s', rounds, { atLeast: 0.6 })];
    } finally {
      await bare.stop();
    }
  },
};

export default routineRead;

/** Each connection goes round the addresses, beginning where chance puts it. */
async function requestsPerSecond(
  urls: readonly string[],
  seconds: number,
  headers: Record<string, string> = {},
): Promise<number> {
  const [url = ''] = urls;
  const paths = urls.map((address) => ({ path: new URL(address).pathname }));
  const result = await autocannon({
    url,
    headers,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(client) {
      const first = randomInt(paths.length);
      client.setRequests([...paths.slice(first), ...paths.slice(0, first)]);
    },
  });
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${failed} of the requests to ${url} failed`);
  return result.requests.total / result.duration;
}
