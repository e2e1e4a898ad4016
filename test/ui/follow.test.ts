import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { follow, type FollowOptions, type FollowStatus } from '../../ui/src/api/follow.ts';

/** Only the time of silence is long, because a busy machine must not seem silent. */
const FAST = { firstMs: 20_000, silenceMs: 20_000, retryMs: 5, maxRetryMs: 20, pollMs: 5, attempts: 3 };

test('a stream that is cut continues after its last event, and loses none', async () => {
  const asked: (string | undefined)[] = [];
  const { events, statuses } = await followed((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (asked.length === 1) {
      begin(response);
      response.write('id: 1\nevent: step\ndata: {"n":1}\n\nid: 2\nevent: st', () => response.destroy());
    } else if (asked.length === 2) {
      begin(response).end('id: 2\nevent: step\ndata: {"n":2}\n\n');
    } else response.writeHead(204).end();
  });
  expect(events).toEqual([{ n: 1 }, { n: 2 }]);
  expect(asked).toEqual([undefined, '1', '2']);
  expect(statuses).toEqual(['connecting', 'live', 'reconnecting', 'live', 'reconnecting', 'ended']);
});

test('a stream that falls silent is left and begun again', async () => {
  // The response depends on the last event and not on the count, because a busy machine may seem silent twice.
  const { events, count } = await followed(
    (request, response) => {
      const last = request.headers['last-event-id'];
      if (last === undefined) begin(response).write('id: 1\ndata: 1\n\n');
      else if (last === '1') begin(response).end('id: 2\ndata: 2\n\n');
      else response.writeHead(204).end();
    },
    { times: { silenceMs: 500 } },
  );
  expect(events).toEqual([1, 2]);
  expect(count).toBeGreaterThanOrEqual(3);
});

test('comments keep a stream that has nothing to tell', async () => {
  // Only this clock decides when the stream counts as silent.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const silenceMs = 40_000;
  async function* comments() {
    for (let count = 0; count < 10; count += 1) {
      yield ': still here\n\n';
      await setImmediate();
      await vi.advanceTimersByTimeAsync(0.9 * silenceMs);
    }
    yield 'id: 1\ndata: 1\n\n';
  }
  const responses = [
    new Response(ReadableStream.from(comments()).pipeThrough(new TextEncoderStream())),
    new Response(null, { status: 204 }),
  ];
  const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => responses.shift()!);
  onTestFinished(() => asked.mockRestore());
  const events: unknown[] = [];
  await follow({
    path: '/events',
    projectId: 'prj_1',
    signal: new AbortController().signal,
    times: { firstMs: silenceMs, silenceMs },
    onEvent: ({ data }) => events.push(data),
    poll: () => Promise.reject(new Error('nothing to poll')),
    onStatus: (status) => void (status === 'reconnecting' && setImmediate().then(() => vi.runAllTimersAsync())),
  });
  expect([events, asked.mock.calls.length]).toEqual([[1], 2]);
});

test('where streams do not come through it polls, until there is nothing more to come', async () => {
  let polls = 0;
  const { statuses, count } = await followed((_request, response) => response.writeHead(503).end('{}'), {
    poll: () => {
      polls += 1;
      return Promise.resolve(polls === 3);
    },
  });
  expect([count, polls]).toEqual([3, 3]);
  expect(statuses.slice(-2)).toEqual(['polling', 'ended']);
});

test('a stream of which not a byte arrives is held back on its way: it polls at once', async () => {
  let polls = 0;
  const { statuses, count } = await followed(() => undefined, {
    times: { firstMs: 50 },
    poll: () => {
      polls += 1;
      return Promise.resolve(polls === 2);
    },
  });
  expect([count, polls]).toEqual([1, 2]);
  expect(statuses).toEqual(['connecting', 'polling', 'ended']);
});

test('a reader without the right is told so, and asks no more', async () => {
  const { statuses, count, refusal } = await followed((_request, response) =>
    response
      .writeHead(404, { 'Content-Type': 'application/json' })
      .end('{"error":{"code":"run_not_found","message":"No such run."},"requestId":"r-1"}'),
  );
  expect([count, statuses.at(-1)]).toEqual([1, 'refused']);
  expect(refusal).toMatchObject({ code: 'run_not_found' });
});

test('leaving the page closes the stream', async () => {
  const left = new AbortController();
  const closed = Promise.withResolvers<void>();
  await followed(
    (_request, response) => {
      response.once('close', closed.resolve);
      begin(response).write('id: 1\ndata: 1\n\n', () => left.abort());
    },
    { signal: left.signal },
  );
  await closed.promise;
});

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'Content-Type': 'text/event-stream' });
}

type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => unknown;

/** Follows a server with these responses, until nothing is left to follow. */
async function followed(
  answer: Answer,
  {
    poll = () => Promise.reject(new Error('nothing to poll')),
    signal = new AbortController().signal,
    times = {},
  }: Partial<Pick<FollowOptions, 'poll' | 'signal'>> & { times?: Partial<typeof FAST> } = {},
) {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    answer(request, response, count);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const events: unknown[] = [];
  const statuses: FollowStatus[] = [];
  let refusal: unknown;
  await follow({
    path: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    projectId: 'prj_1',
    signal,
    onEvent: ({ data }) => events.push(data),
    onStatus: (status, error) => {
      statuses.push(status);
      refusal = error;
    },
    poll,
    times: { ...FAST, ...times },
  });
  return { events, statuses, count, refusal };
}
