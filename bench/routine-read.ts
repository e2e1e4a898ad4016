import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { freePort, isListening } from '#dev/ports.ts';
import { createRoutine } from '#test/support/routines.ts';
import { alternate } from './harness/alternate.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { compared } from './harness/figures.ts';

const CONNECTIONS = 16;

const routineRead: Benchmark = {
  about: `GET /v1/routines/:id with an API key, ${CONNECTIONS} connections, against a bare Koa route with one indexed select`,
  async run({ stack, service: shared, long }) {
    const service = await shared();
    const routineId = await createRoutine(service.client);
    const port = await freePort();
    const bare = await stack.run('Bare route', 'bench/bare/route.ts', {
      DATABASE_URL: service.databaseUrl,
      PORT: String(port),
    });
    try {
      while (!(await isListening(port))) await sleep(50);
      const seconds = long ? 10 : 4;
      const read = () =>
        requestsPerSecond(`${service.url}/v1/routines/${routineId}`, seconds, {
          authorization: service.authorization,
        });
      const select = () =>
        requestsPerSecond(`http://127.0.0.1:${port}/routines/${routineId}`, seconds);
      await read();
      await select();
      const rounds = await alternate(long ? 9 : 5, { value: read, baseline: select });
      return [compared('reads a second', '/s', rounds, { atLeast: 0.6 })];
    } finally {
      await bare.stop();
    }
  },
};

export default routineRead;

async function requestsPerSecond(
  url: string,
  seconds: number,
  headers: Record<string, string> = {},
): Promise<number> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: seconds });
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${failed} of the requests to ${url} failed`);
  return result.requests.total / result.duration;
}
