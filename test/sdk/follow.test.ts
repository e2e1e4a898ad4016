import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { followRun, TIMES, type RunEvent, type RunTextEvent } from '../../sdk/src/follow.ts';
import { readEvents } from '../../sdk/src/events.ts';
import { NotFoundError, ServerError, TimeoutError } from '../../sdk/src/index.ts';
import { Transport } from '../../sdk/src/transport.ts';
import { collected, failure, served, type Listener } from './scripted.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';

/** Only the time of silence is long, because a busy machine must not seem silent. */
const FAST = { ...TIMES, silence: 20_000, retry: 2, poll: 2 };

test('a stream that is cut continues after its last event, and loses none', async () => {
  const asked: unknown[] = [];
  const { names } = await followed(({ headers }, response) => {
    asked.push(headers['last-event-id']);
    begin(response);
    if (asked.length === 1) {
      const begun = frame('0.running', 'state', runIn('running'));
      response.write(`${begun}id: 1.running\nevent: st`, () => response.destroy());
    } else if (asked.length === 2) {
      response.end(frame('1.running', 'step', step(0)));
    } else {
      response.end(frame('1.succeeded', 'state', runIn('succeeded')));
    }
  });
  expect(names).toEqual(['running', 'step 0', 'succeeded']);
  expect(asked).toEqual([undefined, '0.running', '1.running']);
});

test('a stream that falls silent is left and begun again', async () => {
  const { names } = await followed(
    ({ headers }, response) => {
      begin(response);
      if (headers['last-event-id'] === undefined) {
        response.write(frame('0.running', 'state', runIn('running')));
      } else response.end(frame('0.failed', 'state', runIn('failed')));
    },
    { silence: 300 },
  );
  expect(names).toEqual(['running', 'failed']);
});

test('where streams do not come through the run is read, and nothing is told twice', async () => {
  let reads = 0;
  let streams = 0;
  const { names, ids } = await followed(({ url }, response) => {
    if (url?.endsWith('/events') === true) {
      streams += 1;
      if (streams !== 2) return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>');
      return begin(response).end(frame('1.running', 'step', step(0)));
    }
    reads += 1;
    const steps = [step(0), step(1), step(2, 'started')];
    const run = reads < 3 ? runIn('running') : runIn('cancelled');
    return response.end(JSON.stringify({ data: { ...run, steps }, requestId: 'req-1' }));
  });
  expect(names).toEqual(['step 0', 'running', 'step 1', 'step 2', 'cancelled']);
  expect(ids).toEqual(['1.running', undefined, undefined, undefined, undefined]);
  expect([streams, reads]).toEqual([5, 3]);
});

test('where only the end is wanted and streams do not come through, the read waits, if it may', async () => {
  const preferred: unknown[] = [];
  const { names } = await followed(
    ({ url, headers }, response) => {
      if (url?.endsWith('/events') === true) return response.writeHead(200).end('<p>');
      preferred.push(headers['prefer']);
      if (preferred.length === 2) {
        return response.writeHead(429).end(JSON.stringify(failure('rate_limited')));
      }
      const run = runIn(preferred.length === 1 ? 'running' : 'succeeded');
      return response.end(JSON.stringify({ data: { ...run, steps: [] }, requestId: 'req-1' }));
    },
    { wait: 25 },
  );
  expect(names).toEqual(['running', 'succeeded']);
  expect(preferred).toEqual(['wait=25, error-details', 'wait=25, error-details', 'error-details']);
});

test('at the limit of open streams, the run is read at once', async () => {
  let streams = 0;
  const { names } = await followed(({ url }, response) => {
    if (url?.endsWith('/events') !== true) {
      const data = { ...runIn('succeeded'), steps: [step(0)] };
      return response.end(JSON.stringify({ data, requestId: 'req-1' }));
    }
    streams += 1;
    return response.writeHead(429).end(JSON.stringify(failure('rate_limited')));
  });
  expect(names).toEqual(['step 0', 'succeeded']);
  expect(streams).toBe(1);
});

test('the end that the service announces is followed by another stream', async () => {
  let streams = 0;
  const { names } = await followed((_, response) => {
    streams += 1;
    begin(response).end(
      streams === 1
        ? `${frame('0.running', 'state', runIn('running'))}event: end\nretry: 3\ndata: {"reason":"time_limit"}\n\n`
        : frame('0.succeeded', 'state', runIn('succeeded')),
    );
  });
  expect(names).toEqual(['running', 'succeeded']);
});

test('a follower who has seen the last event gets nothing more', async () => {
  const { names, asked } = await followed((_, response) => response.writeHead(204).end(), {}, '1.succeeded');
  expect([names, asked]).toEqual([[], '1.succeeded']);
});

test('a follower without the right gets an error, and does not ask again', async () => {
  const { ras, requests } = await served((_, response) =>
    response.writeHead(404).end(JSON.stringify(failure('run_not_found'))),
  );
  await expect(ras.runs.follow('run_1').next()).rejects.toBeInstanceOf(NotFoundError);
  await expect(ras.runs.wait('run_1')).rejects.toBeInstanceOf(NotFoundError);
  expect(requests).toHaveLength(2);
});

test('a follower of a service that stays away gives up, and says why', async () => {
  const following = followed(
    (_, response) => response.writeHead(503).end(JSON.stringify(failure('service_unavailable'))),
    { patience: 0 },
  );
  await expect(following).rejects.toBeInstanceOf(ServerError);
});

test('a follower who asks for it gets the text of a step under way, and none after the step', async () => {
  const text = (index: number) =>
    frame('', 'text', { index, attempt: 1, begins: true, text: 'The rep' }).replace('id: \n', '');
  const listener: Listener = (_, response) => {
    const events = [text(0), frame('1.running', 'step', step(0)), text(0), text(1)];
    begin(response).end(`${events.join('')}${frame('1.succeeded', 'state', runIn('succeeded'))}`);
  };
  const { ras } = await served(listener);
  const told = await collected(ras.runs.follow('run_1', { text: true }));
  expect(told.map(({ event, id }) => [event, id])).toEqual([
    ['text', undefined],
    ['step', '1.running'],
    ['text', undefined],
    ['state', '1.succeeded'],
  ]);
  expect((await followed(listener)).names).toEqual(['step 0', 'succeeded']);
});

test('breaking off closes the stream', async () => {
  const closed = Promise.withResolvers<void>();
  const { ras } = await served((_, response) => {
    response.once('close', closed.resolve);
    begin(response).write(frame('0.running', 'state', runIn('running')));
  });
  for await (const { data } of ras.runs.follow('run_1')) {
    expect(data).toEqual(runIn('running'));
    break;
  }
  await closed.promise;
});

test('a wait ends when its time is over, and closes the stream', async () => {
  const closed = Promise.withResolvers<void>();
  const { ras } = await served((_, response) => {
    response.once('close', closed.resolve);
    begin(response).write(frame('0.running', 'state', runIn('running')));
  });
  await expect(ras.runs.wait('run_1', { timeoutMs: 300 })).rejects.toBeInstanceOf(TimeoutError);
  await closed.promise;
});

test('a wait ends when its signal aborts', async () => {
  const gone = new AbortController();
  const { ras } = await served((_, response) => {
    begin(response).write(frame('0.running', 'state', runIn('running')), () =>
      gone.abort(new Error('no longer wanted')),
    );
  });
  const waiting = ras.runs.wait('run_1', { signal: gone.signal, timeoutMs: 20_000 });
  await expect(waiting).rejects.toThrow('no longer wanted');
});

test.each(['\n', '\r\n'])('events are read wherever their bytes are cut: %j', async (end) => {
  const lines = ['retry: 5', '', ': still here', '', 'event: step', 'id: ä', 'data: {"a":', 'data: 1}', '', ''];
  const bytes = new TextEncoder().encode(lines.join(end));
  for (let size = 1; size <= bytes.length; size += 1) {
    let at = 0;
    const events = await collected(
      readEvents(() => {
        const part = bytes.subarray(at, at + size);
        at += size;
        return Promise.resolve(part.length === 0 ? undefined : part);
      }),
    );
    expect(events.filter(({ data }) => data !== undefined)).toEqual([
      { event: 'step', id: 'ä', data: '{"a":\n1}', retryMs: undefined },
    ]);
    expect(events[0]?.retryMs).toBe(5);
  }
});

function runIn(state: string) {
  return { id: 'run_1', state };
}

function step(index: number, state = 'succeeded') {
  return { index, state };
}

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'Content-Type': 'text/event-stream' });
}

function frame(id: string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Follows a server with these responses and short times, until nothing is left to follow. */
async function followed(listener: Listener, times: Partial<typeof TIMES> = {}, lastEventId?: string) {
  const { origin, received } = await startReceiver(listener);
  const transport = new Transport({
    apiKey: 'ras_canary',
    baseUrl: origin,
    timeoutMs: 20_000,
    maxRetries: 0,
    fetch: undefined,
    exactNumbers: false,
  });
  const events: (RunEvent | RunTextEvent)[] = [];
  const options = { lastEventId };
  for await (const event of followRun(transport, 'run_1', options, { ...FAST, ...times })) {
    events.push(event);
  }
  return {
    names: events.map(({ event, data }) => (event === 'state' ? data.state : `step ${data.index}`)),
    ids: events.map(({ id }) => id),
    asked: received[0]?.headers['last-event-id'],
  };
}
