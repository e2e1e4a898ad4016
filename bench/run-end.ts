import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { type Benchmark, type Benchmarks, plain, quantile } from './harness/benchmark.ts';
import { loadRunning } from '#test/support/given/bulk.ts';
import { cpuSeconds } from './harness/measure.ts';
import { startService, type Service } from './harness/service.ts';

/** Random pauses, so that commits do not keep the rhythm of the service's own polls. */
const IDLE_MS = { least: 120, most: 220 };

const runEnd: Benchmark = {
  about:
    'one caller of an idle service: from the commit that ends a run to the last event, and to the response of a read with Prefer: wait',
  async run({ stack, long }) {
    const service = await startService(stack, { worker: false });
    try {
      const count = long ? 400 : 60;
      const runIds = await loadRunning(service, 2 * count);
      const [streamed, waited] = [runIds.slice(0, count), runIds.slice(count)];
      const byStream = await ends(service, streamed, 'events');
      const byWait = await ends(service, waited, '');
      const at = (times: number[], part: number) => [quantile(times, part)];
      return [
        plain('by stream, p50', 'ms', at(byStream.times, 0.5), { atMost: 30 }),
        plain('by stream, p95', 'ms', at(byStream.times, 0.95), { atMost: 100 }),
        plain('by wait, p50', 'ms', at(byWait.times, 0.5), { atMost: 30 }),
        plain('by wait, p95', 'ms', at(byWait.times, 0.95), { atMost: 100 }),
        plain('API, with one follower', '% of a core', [byStream.cpu], { atMost: 5 }),
      ];
    } finally {
      await service.stop();
    }
  },
};

/** Follows one run after the other to its end, and returns the sorted times until the follower heard of each end. */
async function ends(
  service: Service,
  runIds: readonly string[],
  how: 'events' | '',
): Promise<{ times: number[]; cpu: number }> {
  const { url, authorization, database } = service;
  const times: number[] = [];
  let rest = 0;
  let cpu = 0;
  for (const runId of runIds) {
    const heard = request(`${url}/v1/runs/${runId}${how && `/${how}`}`, {
      headers: { authorization, prefer: 'wait=50', accept: '*/*' },
    }).then(async ({ body }) => {
      const text = await body.text();
      if (!text.includes('"succeeded"')) throw new Error(`no end was heard of: ${text}`);
      return performance.now();
    });
    // Wait until the follower is connected and the service is idle again.
    await sleep(IDLE_MS.least);
    const [begun, before] = [performance.now(), await cpuSeconds(service.api.pid)];
    await sleep(Math.random() * (IDLE_MS.most - IDLE_MS.least));
    await sleep(how === '' ? 0 : 200);
    cpu += (await cpuSeconds(service.api.pid)) - before;
    rest += (performance.now() - begun) / 1_000;
    await database.query({
      name: 'end',
      text: `update runs set state = 'succeeded', finished_at = now() where id = $1`,
      values: [runId],
    });
    const committed = performance.now();
    times.push((await heard) - committed);
  }
  return { times: times.toSorted((a, b) => a - b), cpu: (cpu / rest) * 100 };
}

export default { 'run-end': runEnd } satisfies Benchmarks;
