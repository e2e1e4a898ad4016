import { createServer, request as send, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { closeAtOnce } from '#lib/listen.ts';
import { portOf } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { sized } from '#test/support/properties.ts';
import { Ras } from '../../sdk/src/index.ts';
import { collected } from './scripted.ts';

const test = serviceTest();

const CREATES = sized(1_000);
const AT_ONCE = 20;
const TIMEOUT_MS = 120_000;

test(
  'a proxy that drops a fifth of all responses has every routine made, and none of them twice',
  {
    timeout: TIMEOUT_MS,
  },
  async ({ ada, service }) => {
    const key = await ada.key();
    const apiKey = key.headers['Authorization']?.replace('Bearer ', '');
    const proxy = await startDroppingProxy(service.url);
    const ras = new Ras({ apiKey, baseUrl: proxy.url, maxRetries: 20 });
    const names = Array.from({ length: CREATES }, (_, index) => `Routine ${index}`);
    const left = [...names];
    const created: string[] = [];
    const createAll = async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        const routine = await ras.routines.create({
          name,
          instructions: 'Write one line.',
          schedule: '0 7 * * *',
          model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
        });
        created.push(`${routine.id} ${routine.name}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, createAll));

    const straight = new Ras({ apiKey, baseUrl: service.url });
    const rows = await collected(straight.routines.list({ limit: 200 }));
    expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(created.toSorted()).toEqual(rows.map(({ id, name }) => `${id} ${name}`).toSorted());
    // A fifth of the responses was lost, most of them after the routine was created.
    expect(proxy.dropped()).toBeGreaterThanOrEqual(CREATES / 5);
    expect(proxy.droppedSuccesses()).toBeGreaterThan(CREATES / 10);
  },
);

/** Starts a proxy that cuts each fifth response by turns: before its first byte, or in the middle. */
async function startDroppingProxy(target: string) {
  let responses = 0;
  let dropped = 0;
  let droppedSuccesses = 0;
  const pass: RequestListener = (request, response) => {
    const { method, url, headers } = request;
    const upstream = send(`${target}${url}`, { method, headers }, async (received) => {
      const body = await text(received);
      responses += 1;
      const { statusCode = 0 } = received;
      if (responses % 5 !== 0) return response.writeHead(statusCode, received.headers).end(body);
      dropped += 1;
      if (statusCode === 201) droppedSuccesses += 1;
      if (dropped % 2 === 0) return response.destroy();
      response.writeHead(statusCode, received.headers);
      return response.write(body.slice(0, 20), () => response.destroy());
    });
    request.pipe(upstream);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => closeAtOnce(server));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    dropped: () => dropped,
    droppedSuccesses: () => droppedSuccesses,
  };
}
