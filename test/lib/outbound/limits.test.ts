import type net from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { inspect } from 'node:util';
import { brotliCompressSync, createGzip, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { localClient, startRawServer, startReceiver } from './receiver.ts';

test('an exchange gives status, headers, body, address and duration, with any status', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(503, { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] });
    response.end('busy');
  });
  const response = await localClient().request({
    url: `${receiver.origin}/hook?x=1`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'webhook-id': 'id-1' },
    body: '{"a":1}',
  });
  expect(response).toMatchObject({
    status: 503,
    truncated: false,
    url: `${receiver.origin}/hook?x=1`,
  });
  expect(response.body.toString()).toBe('busy');
  expect(response.headers.get('retry-after')).toBe('7');
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(response.durationMs).toBeGreaterThanOrEqual(0);
  expect(receiver.received).toEqual([
    {
      method: 'POST',
      path: '/hook?x=1',
      body: '{"a":1}',
      headers: expect.objectContaining({
        'content-type': 'application/json',
        'content-length': '7',
        'webhook-id': 'id-1',
        'user-agent': 'routine-automation-service',
      }),
    },
  ]);
});

test.each([204, 205, 304])('an answer %i has an empty body', async (status) => {
  const receiver = await startReceiver((_, response) => response.writeHead(status).end());
  const client = localClient();
  const response = await client.request({ url: receiver.origin });
  expect(response.status).toBe(status);
  expect(response.body).toHaveLength(0);
  expect((await client.fetch(receiver.origin)).body).toBeNull();
});

test.each([204, 205, 304])('an endless body where %i allows none is not read', async (status) => {
  const port = await startRawServer((socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\n\r\n`);
      const flood = setInterval(() => socket.write('4\r\nxxxx\r\n'), 1);
      socket.on('close', () => {
        clearInterval(flood);
        ended++;
      });
    });
  });
  let ended = 0;
  const client = localClient();
  const url = `http://127.0.0.1:${port}/`;
  expect(await client.request({ url })).toMatchObject({ status, body: Buffer.alloc(0) });
  expect(await client.request({ url, method: 'HEAD' })).toMatchObject({ status });
  expect((await client.fetch(url)).body).toBeNull();
  await vi.waitFor(() => expect(ended).toBe(3), 5_000);
});

test('an exchange that has ended leaves no timer behind', async () => {
  const receiver = await startReceiver((_, response) => response.end('x'));
  const client = localClient();
  const before = activeTimers();
  for (let i = 0; i < 30; i++) await client.request({ url: receiver.origin, timeoutMs: 600_000 });
  expect(activeTimers() - before).toBeLessThan(15);
});

test.for<[string, (socket: net.Socket) => void]>([
  ['never responds', () => undefined],
  ['drips its headers', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x-drip: 1\r\n')],
  ['drips its body', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', '.')],
])('a receiver that %s is cut off at the total time', async ([, behave]) => {
  let closed = 0;
  const port = await startRawServer((socket) => {
    socket.resume().once('close', () => (closed += 1));
    behave(socket);
  });
  const url = `http://127.0.0.1:${port}/?canary=query`;
  const error = await failureOf({ url, timeoutMs: 300 });
  expect(error).toMatchObject({ code: 'timeout', mayHaveArrived: true });
  expect(String(error)).toContain(`127.0.0.1:${port}`);
  expect(String(error)).not.toContain('canary');
  await vi.waitFor(() => expect(closed).toBe(1), 5_000);
});

const OK = 'HTTP/1.1 200 OK\r\n';

test.for([
  ['never comes', ''],
  ['is no HTTP', 'SSH-2.0-canary\r\n'],
  ['has endless headers', `${OK}x-long: canary${'x'.repeat(100_000)}\r\n\r\n`],
  ['is not what its coding says', `${OK}content-encoding: gzip\r\n\r\ncanary, not gzip`],
  [
    'has many content codings on top of each other',
    `${OK}content-encoding: ${Array(20).fill('gzip').join(', ')}\r\n\r\ncanary`,
  ],
] as const)(
  'a response that %s is a protocol error that quotes nothing of it, and is not asked for again',
  async ([, response]) => {
    let requests = 0;
    const port = await startRawServer((socket) => {
      socket.once('data', () => {
        requests += 1;
        socket.end(response);
      });
    });
    const url = `http://127.0.0.1:${port}/`;
    const error = await failureOf({ url, method: 'POST', body: 'x' });
    expect(error).toMatchObject({ code: 'protocol_error', mayHaveArrived: true });
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('canary');
    expect(requests).toBe(1);
  },
);

test('silence before the headers and within the body ends an exchange that has no total time', async () => {
  const silent = await startReceiver(() => undefined);
  const stalled = await startReceiver((_, response) => void response.write('begun'));
  const client = localClient({ headersTimeoutMs: 200, idleTimeoutMs: 200 });
  await expect(client.fetch(silent.origin)).rejects.toMatchObject({ code: 'timeout' });
  const response = await client.fetch(stalled.origin);
  await expect(response.text()).rejects.toMatchObject({ code: 'timeout' });
});

test('a huge body fails at the limit, and no more than that is read', async () => {
  let sent = 0;
  function* blocks(): Generator<Buffer> {
    for (; sent < 500 * 1024 * 1024; sent += 64 * 1024) yield Buffer.alloc(64 * 1024, 'x');
  }
  const receiver = await startReceiver((_, response) => {
    pipeline(Readable.from(blocks()), response, () => undefined);
  });
  await expect(localClient().request({ url: receiver.origin, maxResponseBytes: 100_000 })).rejects.toMatchObject({
    code: 'response_too_large',
    mayHaveArrived: true,
  });
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
  expect(sent).toBeLessThan(50 * 1024 * 1024);
});

test('with truncate the body ends at the limit, without an error, and the connection is closed', async () => {
  const receiver = await startReceiver((_, response) => {
    response.on('error', () => undefined);
    const flood = setInterval(() => response.write('x'.repeat(10_000)), 1);
    response.on('close', () => clearInterval(flood));
  });
  const response = await localClient().request({
    url: receiver.origin,
    maxResponseBytes: 65_536,
    onOverflow: 'truncate',
  });
  expect(response).toMatchObject({ status: 200, truncated: true });
  expect(response.body).toHaveLength(65_536);
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('a body of exactly the limit is whole, one byte more is not', async () => {
  const receiver = await startReceiver((_, response) => response.end('x'.repeat(1000)));
  const client = localClient();
  const limits = { url: receiver.origin, onOverflow: 'truncate' } as const;
  const whole = await client.request({ ...limits, maxResponseBytes: 1000 });
  expect(whole).toMatchObject({ truncated: false, body: Buffer.alloc(1000, 'x') });
  const cut = await client.request({ ...limits, maxResponseBytes: 999 });
  expect(cut).toMatchObject({ truncated: true, body: Buffer.alloc(999, 'x') });
  const none = await client.request({ ...limits, maxResponseBytes: 0 });
  expect(none).toMatchObject({ truncated: true, body: Buffer.alloc(0) });
});

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('a %s body is decompressed and counted as such', async (coding, compress) => {
  const compressed = compress(Buffer.alloc(2_000_000));
  const receiver = await startReceiver((_, response) => {
    response.setHeader('content-encoding', coding);
    response.end(compressed);
  });
  const client = localClient();
  const whole = await client.request({ url: receiver.origin, maxResponseBytes: 2_000_000 });
  expect(whole.body).toHaveLength(2_000_000);
  expect(compressed.length).toBeLessThan(20_000);
  await expect(client.request({ url: receiver.origin, maxResponseBytes: 1_999_999 })).rejects.toMatchObject({
    code: 'response_too_large',
  });
});

test('a gzip bomb costs little time and memory', async () => {
  const receiver = await startReceiver((_, response) => {
    response.setHeader('content-encoding', 'gzip');
    const zeros = Buffer.alloc(1024 * 1024);
    const plain = Readable.from(Array<Buffer>(4096).fill(zeros));
    pipeline(plain, createGzip(), response, () => undefined);
  });
  const before = process.memoryUsage().rss;
  await expect(localClient().request({ url: receiver.origin, maxResponseBytes: 1_000_000 })).rejects.toMatchObject({
    code: 'response_too_large',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test('a response that is cut off in the middle fails and is never asked for again', async () => {
  let connections = 0;
  let requests = 0;
  const port = await startRawServer((socket) => {
    connections++;
    socket.once('data', () => {
      requests++;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegun');
      setTimeout(() => socket.destroy(), 20);
    });
  });
  const client = localClient();
  for (const method of ['POST', 'GET']) {
    const error = await client.request({ url: `http://127.0.0.1:${port}/`, method }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'protocol_error', mayHaveArrived: true });
  }
  expect({ connections, requests }).toEqual({ connections: 2, requests: 2 });
});

test('a request with a body is sent once even when the response is 421', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(421).end());
  const client = localClient();
  const sent = await client.request({ url: receiver.origin, method: 'POST', body: 'once' });
  expect(sent.status).toBe(421);
  const fetched = await client.fetch(receiver.origin, { method: 'POST', body: 'once' });
  expect(fetched.status).toBe(421);
  expect(receiver.received).toHaveLength(2);
});

test('a port without a listener is a failed connection: the request cannot have arrived', async () => {
  const port = await startRawServer(() => undefined, { closed: true });
  const url = `http://127.0.0.1:${port}/`;
  const error = await failureOf({ url, method: 'POST', body: 'x' });
  expect(error).toMatchObject({ code: 'connect_failed', mayHaveArrived: false });
});

test('the caller can abort, before and during an exchange', async () => {
  const receiver = await startReceiver((_, response) => void response.write('begun'));
  const client = localClient();
  await expect(client.request({ url: receiver.origin, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'aborted',
  });
  expect(receiver.received).toHaveLength(0);
  const controller = new AbortController();
  const pending = client.request({ url: receiver.origin, signal: controller.signal });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 5_000);
  controller.abort(new Error('canary'));
  const error = await pending.catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'aborted', mayHaveArrived: true });
  expect(String(error)).not.toContain('canary');
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('closing the client ends what is under way', async () => {
  const receiver = await startReceiver(() => undefined);
  const client = localClient();
  const pending = client.request({ url: receiver.origin }).catch((error: unknown) => error);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 5_000);
  await client.close();
  expect(await pending).toMatchObject({ code: 'aborted' });
  await expect(client.request({ url: receiver.origin })).rejects.toMatchObject({ code: 'aborted' });
});

test.each([
  { headers: { 'x-key': 'canary\nx-other: 1' } },
  { headers: { 'x key': 'canary' } },
  { headers: { 'x-key': 'canary-é-✓' } },
  { method: 'CONNECT', headers: { 'x-key': 'canary' } },
  { method: 'GET', body: 'canary' },
])('a malformed request is refused before it is sent, without quoting it: %j', async (options) => {
  const receiver = await startReceiver((_, response) => response.end());
  const error = await failureOf({ url: receiver.origin, ...options });
  expect(error).toMatchObject({ code: 'protocol_error', mayHaveArrived: false });
  expect(String(error)).not.toContain('canary');
  expect(receiver.connections()).toBe(0);
});

/** Makes a request that fails, and returns its error. */
function failureOf(options: Parameters<ReturnType<typeof localClient>['request']>[0]) {
  return localClient()
    .request(options)
    .catch((error: unknown) => error);
}

/** Writes the beginning of a response, and then the same text again and again. */
function drip(socket: net.Socket, begin: string, again: string): void {
  socket.write(begin);
  const dripping = setInterval(() => socket.write(again), 20);
  socket.once('close', () => clearInterval(dripping));
}

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}
