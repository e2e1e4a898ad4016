import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { OutboundError } from '#lib/outbound/index.ts';
import { localClient, startReceiver } from './receiver.ts';
import { PATIENCE_MS } from '#test/support/properties.ts';

test('fetch takes and gives the standard classes', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(201, 'Made', { 'content-type': 'application/json', 'x-a': '1' });
    response.end('{"a":1}');
  });
  const { fetch } = localClient();
  const response = await fetch(receiver.origin);
  expect(response).toBeInstanceOf(Response);
  expect(response.body).toBeInstanceOf(ReadableStream);
  expect(response).toMatchObject({
    ok: true,
    status: 201,
    statusText: 'Made',
    url: `${receiver.origin}/`,
    redirected: false,
  });
  expect(response.headers.get('x-a')).toBe('1');
  expect(await response.json()).toEqual({ a: 1 });

  await fetch(new URL('/url', receiver.origin), { headers: [['x-b', '2']] });
  await fetch(new Request(`${receiver.origin}/request`, { method: 'PUT', body: 'old', headers: { a: 'b' } }));
  const overridden = new Request(`${receiver.origin}/init`, { method: 'PUT', body: 'old' });
  await fetch(overridden, { method: 'PATCH', body: 'new' });
  await fetch(`${receiver.origin}/form`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token' }),
  });
  const form = new FormData();
  form.set('file', new Blob(['content']), 'name.txt');
  await fetch(`${receiver.origin}/upload`, { method: 'POST', body: form });
  expect(receiver.received.slice(1)).toMatchObject([
    { path: '/url', headers: { 'x-b': '2' } },
    { path: '/request', method: 'PUT', body: 'old', headers: { a: 'b' } },
    { path: '/init', method: 'PATCH', body: 'new' },
    {
      path: '/form',
      body: 'grant_type=refresh_token',
      headers: { 'content-type': expect.stringContaining('application/x-www-form-urlencoded') },
    },
    {
      path: '/upload',
      body: expect.stringContaining('content'),
      headers: { 'content-type': expect.stringContaining('multipart/form-data; boundary=') },
    },
  ]);
});

test('an event stream arrives event by event while it is open', async () => {
  let stream: ServerResponse | undefined;
  const receiver = await startReceiver((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    stream = response;
  });
  const response = await localClient().fetch(receiver.origin, {
    headers: { accept: 'text/event-stream' },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of ['one', 'two', 'three']) {
    stream?.write(`data: ${text}\n\n`);
    expect(await reader.read()).toEqual({ done: false, value: `data: ${text}\n\n` });
  }
  stream?.end();
  expect(await reader.read()).toMatchObject({ done: true });
});

test('a never-ending stream ends with an error at the byte limit', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('error', () => undefined);
    const flood = setInterval(() => response.write(`data: ${'x'.repeat(1000)}\n\n`), 1);
    response.on('close', () => clearInterval(flood));
  });
  const fetch = localClient().fetchWithin({ maxResponseBytes: 20_000 });
  const response = await fetch(receiver.origin);
  let read = 0;
  const reading = (async () => {
    for await (const chunk of response.body!) read += chunk.byteLength;
  })();
  await expect(reading).rejects.toMatchObject({ code: 'response_too_large' });
  expect(read).toBeLessThanOrEqual(20_000);
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('a stream has no total time by default, and the one it is given', async () => {
  const receiver = await startReceiver((_, response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  });
  const response = await localClient().fetchWithin({ timeoutMs: 300 })(receiver.origin);
  await expect(response.text()).rejects.toMatchObject({ code: 'timeout' });
});

test('an abort rejects with the reason of the signal, before the headers and within the body', async () => {
  const receiver = await startReceiver((request, response) => {
    if (request.url === '/body') response.write('begun');
  });
  const { fetch } = localClient();
  const reason = new Error('enough');
  await expect(fetch(receiver.origin, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(fetch(receiver.origin, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  const controller = new AbortController();
  const response = await fetch(`${receiver.origin}/body`, { signal: controller.signal });
  const text = response.text();
  controller.abort();
  await expect(text).rejects.toMatchObject({ name: 'AbortError' });
  const fromRequest = new AbortController();
  const pending = fetch(new Request(receiver.origin, { signal: fromRequest.signal }));
  fromRequest.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('cancelling an unread body closes the connection', async () => {
  const receiver = await startReceiver((_, response) => void response.write('begun'));
  const response = await localClient().fetch(receiver.origin);
  await response.body?.cancel();
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('a response that is forgotten unread does not hold its connection for ever', async () => {
  const receiver = await startReceiver((_, response) => void response.write('begun'));
  const { fetch } = localClient();
  const forget = async (): Promise<void> => void (await fetch(receiver.origin));
  await forget();
  expect(receiver.open()).toBe(1);
  await vi.waitFor(
    () => {
      collectGarbage();
      expect(receiver.open()).toBe(0);
    },
    { timeout: PATIENCE_MS, interval: 50 },
  );
});

test('a response that is kept unread stays readable', async () => {
  const receiver = await startReceiver((_, response) => response.end('kept'));
  const { body } = await localClient().fetch(receiver.origin);
  for (let i = 0; i < 5; i++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await new Response(body).text()).toBe('kept');
});

test('many calls with one long-lived signal leave no listener on it', async () => {
  const receiver = await startReceiver((_, response) => response.end('x'));
  const client = localClient();
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  for (let i = 0; i < 5; i++) {
    await (await client.fetch(receiver.origin, { signal })).text();
    await client.request({ url: receiver.origin, signal });
  }
  expect(added).toHaveBeenCalledTimes(10);
  expect(removed).toHaveBeenCalledTimes(10);
});

test('a status that HTTP does not have is a protocol error', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(999).end());
  const client = localClient();
  await expect(client.fetch(receiver.origin)).rejects.toMatchObject({ code: 'protocol_error' });
  expect((await client.request({ url: receiver.origin })).status).toBe(999);
});

test('every fault of fetch is an OutboundError', async () => {
  const { fetch } = localClient();
  for (const input of ['http://127.0.0.1:1024/', 'http://10.0.0.1:22/', 'not a url']) {
    await expect(fetch(input)).rejects.toBeInstanceOf(OutboundError);
  }
});

/** Makes the engine collect garbage at once, without a command-line flag. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}
