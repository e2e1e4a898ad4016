import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { framed, sendEvents } from '#api/http/event-stream.ts';
import { listen } from '#api/http/listen.ts';

test('a stream without news is kept alive by comments, and an event is written as its three lines', async () => {
  async function* events() {
    await sleep(250);
    yield { event: 'state', id: '0.running', data: { text: 'two\nlines' } };
  }
  const frames: string[] = [];
  for await (const frame of framed(events(), 100)) frames.push(frame);
  expect(frames[0]).toBe('retry: 2000\n\n');
  expect(frames.slice(1, -1).every((frame) => frame === ': still here\n\n')).toBe(true);
  expect(frames.length).toBeGreaterThanOrEqual(3);
  expect(frames.at(-1)).toBe('event: state\nid: 0.running\ndata: {"text":"two\\nlines"}\n\n');
});

test('a fault while following ends the stream with it', async () => {
  async function* events() {
    yield { event: 'state', id: '0.queued', data: {} };
    throw new Error('the database is away');
  }
  const read = async () => {
    for await (const _frame of framed(events()));
  };
  await expect(read()).rejects.toThrow('the database is away');
});

test('the event that ends a stream has no id, so that its follower continues after the previous one', async () => {
  async function* events() {
    yield { event: 'end', retryMs: 2_500, data: { reason: 'time_limit' } };
  }
  const frames: string[] = [];
  for await (const frame of framed(events())) frames.push(frame);
  expect(frames.at(-1)).toBe('event: end\nretry: 2500\ndata: {"reason":"time_limit"}\n\n');
});

test('a client that does not read is cut off, and no more than a few events are made for it meanwhile', async () => {
  const size = 1_000_000;
  let made = 0;
  async function* events() {
    for (;;) {
      made += 1;
      yield { event: 'step', id: String(made), data: 'x'.repeat(size) };
    }
  }
  const app = new Koa();
  app.on('error', () => undefined);
  app.use((ctx) =>
    sendEvents(
      ctx,
      {
        open: () => Promise.resolve(events()),
        isAllowed: () => Promise.resolve(true),
        checkEveryMs: 60_000,
      },
      500,
    ),
  );
  const server = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');
  const stalledAt = await settled(() => made);
  // The kernels at both ends buffer a few megabytes of the connection, and the service makes two more events.
  expect(stalledAt * size).toBeLessThan(40_000_000);
  await sleep(700);
  expect(made).toBe(stalledAt);
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  expect(made).toBe(stalledAt);
  await server.close();
});

/** Resolves with a count that has stopped growing over many looks, because a busy machine may pause between two. */
async function settled(count: () => number): Promise<number> {
  let before = 0;
  for (let same = 0; same < 20; same += 1) {
    await sleep(10);
    if (count() !== before || before === 0) same = 0;
    before = count();
  }
  return before;
}
