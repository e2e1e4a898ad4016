import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { boundedFetch } from '#core/runs/bounded-fetch.ts';
import { ModelFailure } from '#core/runs/model-failure.ts';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
// As the model caller has it: the call's own deadline is the only clock.
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => server.closeAllConnections());
afterAll(async () => {
  await agent.destroy();
  server.close();
});

function call(
  signal: AbortSignal = new AbortController().signal,
  read?: (body: string) => string,
): Promise<Response> {
  return boundedFetch(agent, read)(url, { method: 'POST', headers: {}, body: '{}', signal });
}

async function failureOf(calling: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([calling]);
  return outcome.status === 'rejected' ? outcome.reason : 'no failure';
}

test('a response comes with its status, headers and body', async () => {
  answer = (_request, response) => {
    response.writeHead(201, { 'X-One': '1', 'Set-Cookie': ['a=1', 'b=2'] });
    response.write('Größe ');
    response.end('\u{1F600}');
  };
  const response = await call();
  expect([response.status, await response.text()]).toEqual([201, 'Größe \u{1F600}']);
  expect(response.headers.get('x-one')).toBe('1');
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

test('a character that is cut between two parts of the body is whole again', async () => {
  const bytes = Buffer.from('\u{1F600}');
  answer = async (_request, response) => {
    response.write(bytes.subarray(0, 2));
    await sleep(50);
    response.end(bytes.subarray(2));
  };
  expect(await (await call()).text()).toBe('\u{1F600}');
});

test('a response without a body is one, also where its status allows none', async () => {
  answer = (_request, response) => response.writeHead(204).end();
  const response = await call();
  expect([response.status, response.body]).toEqual([204, null]);
});

test('a redirect is a response and is not followed', async () => {
  let requests = 0;
  answer = (_request, response) => {
    requests += 1;
    response.writeHead(307, { Location: url }).end('elsewhere');
  };
  const response = await call();
  expect([response.status, await response.text(), requests]).toEqual([307, 'elsewhere', 1]);
});

test('a body without an end is refused at 16 MB and the connection closed, not to be tried again', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  let closed: Promise<unknown> = Promise.resolve();
  answer = async (_request, response) => {
    closed = once(response, 'close');
    while (!response.destroyed) {
      sent += chunk.length;
      if (!response.write(chunk)) {
        await Promise.race([once(response, 'drain'), closed]);
      }
    }
  };
  const failure = await failureOf(call());
  expect(failure).toBeInstanceOf(ModelFailure);
  expect(failure).toMatchObject({ reason: 'model_malformed', retryable: false });
  await closed;
  // What stood in the buffers of both ends besides.
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

test('a body of exactly 16 MB is taken', async () => {
  answer = (_request, response) => response.end(Buffer.alloc(16 * 1024 * 1024, 'x'));
  expect(await (await call()).text()).toHaveLength(16 * 1024 * 1024);
});

test('a body that falls silent ends with the deadline of the call, and may be tried again', async () => {
  answer = (_request, response) => response.write('{"choices":');
  const started = performance.now();
  const failure = await failureOf(call(AbortSignal.timeout(300)));
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(failure).toBeInstanceOf(ModelFailure);
  expect(failure).toMatchObject({ reason: 'model_unreachable', retryable: true });
});

test('a body that breaks off may be tried again', async () => {
  answer = async (_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half');
    await sleep(50);
    response.destroy();
  };
  expect(await failureOf(call())).toMatchObject({
    reason: 'model_unreachable',
    retryable: true,
    message: 'The model provider broke off the call.',
  });
});

test('headers may come late, as long as the deadline allows', async () => {
  answer = async (_request, response) => {
    await sleep(1_000);
    response.end('at last');
  };
  expect(await (await call()).text()).toBe('at last');
});

test('headers that never come end with the deadline of the call', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  answer = (request) => {
    closed = once(request.socket, 'close');
  };
  const started = performance.now();
  const failure = await failureOf(call(AbortSignal.timeout(300)));
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(failure).toMatchObject({ name: 'TimeoutError' });
  await closed;
});

test('the body is read as the caller wants it', async () => {
  answer = (_request, response) => response.end('one');
  const response = await call(undefined, (body) => `${body}, two`);
  expect(await response.text()).toBe('one, two');
});
