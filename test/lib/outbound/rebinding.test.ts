import { setImmediate } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createGuardedConnector } from '#lib/outbound/connector.ts';
import { certificate, guardedClient, localClient, startReceiver } from './receiver.ts';

const PUBLIC_ADDRESS = '93.184.216.34';

test('a name whose address changes from public to loopback between two requests reaches nothing local', async () => {
  const receiver = await startReceiver((_, response) => response.end(), { tls: true });
  const answers = [PUBLIC_ADDRESS, '127.0.0.1', '127.0.0.1'];
  let asked = 0;
  const client = guardedClient({
    lookup: async () => [answers[asked++] ?? '127.0.0.1'],
    connectTimeoutMs: 300,
  });
  const url = `https://tools.example.com:${receiver.port}/`;
  // No server listens on that port of the public address. The test counts the look-ups of the name.
  await expect(client.request({ url })).rejects.toMatchObject({ mayHaveArrived: false });
  expect(asked).toBe(1);
  await expect(client.request({ url })).rejects.toMatchObject({ code: 'blocked_address' });
  await expect(client.fetch(url)).rejects.toMatchObject({ code: 'blocked_address' });
  expect(asked).toBe(3);
  expect(receiver.connections()).toBe(0);
});

test('the address that was checked is the one that is connected to, asked for once a connection', async () => {
  const receiver = await startReceiver((_, response) => response.end('here'));
  let asked = 0;
  const client = localClient({
    // A second look-up of the name would return an address without a listener.
    lookup: async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
  });
  const url = `http://tools.example.com:${receiver.port}/`;
  const response = await client.request({ url });
  expect(response.body.toString()).toBe('here');
  expect(receiver.received[0]?.headers.host).toBe(`tools.example.com:${receiver.port}`);
  // undici reuses a connection only a turn of the event loop after its last response.
  await setImmediate();
  // The kept connection still leads to the checked address.
  expect((await client.request({ url })).body.toString()).toBe('here');
  expect(asked).toBe(1);
  expect(receiver.connections()).toBe(1);
});

test.each([
  { addresses: ['127.0.0.1'] },
  { addresses: [PUBLIC_ADDRESS, '127.0.0.1'] },
  { addresses: ['127.0.0.1', PUBLIC_ADDRESS] },
  { addresses: [PUBLIC_ADDRESS, '::ffff:127.0.0.1'] },
  { addresses: ['2606:4700:4700::1111', '::1'] },
  { addresses: ['64:ff9b::7f00:1'] },
  { addresses: ['169.254.169.254'] },
  { addresses: ['fe80::1%lo'] },
  { addresses: ['localhost'] },
])('a host that resolves to $addresses is refused', async ({ addresses }) => {
  const receiver = await startReceiver((_, response) => response.end(), { tls: true });
  const client = guardedClient({ lookup: async () => addresses });
  const url = `https://tools.example.com:${receiver.port}/?canary=query`;
  const error = await client.request({ url }).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'blocked_address', mayHaveArrived: false });
  // The error must not reveal the internal address of a name.
  for (const address of addresses) expect(String(error)).not.toContain(address);
  expect(String(error)).not.toContain('canary');
  await expect(client.fetch(url)).rejects.toMatchObject({ code: 'blocked_address' });
  expect(receiver.connections()).toBe(0);
});

test('a host without an address, or whose lookup fails, is a DNS failure', async () => {
  const empty = guardedClient({ lookup: async () => [] });
  const url = 'https://tools.example.com/';
  await expect(empty.request({ url })).rejects.toMatchObject({ code: 'dns_failure' });
  const failing = guardedClient({
    lookup: async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    },
  });
  await expect(failing.request({ url })).rejects.toMatchObject({
    code: 'dns_failure',
    message: 'tools.example.com: the host has no address (ENOTFOUND)',
    mayHaveArrived: false,
  });
});

test('a lookup that never responds is a connect timeout', async () => {
  const client = guardedClient({ lookup: () => new Promise(() => {}), connectTimeoutMs: 200 });
  const error = await client.request({ url: 'https://tools.example.com/' }).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 'timeout', mayHaveArrived: false });
});

test('a caller cannot change the host or the framing by a header', async () => {
  const receiver = await startReceiver((_, response) => response.end('fine'), { tls: true });
  const client = localClient({ lookup: async () => ['127.0.0.1'], ca: certificate });
  const response = await client.request({
    url: `https://tools.example.com:${receiver.port}/`,
    method: 'POST',
    body: 'four',
    headers: {
      host: 'metadata.google.internal',
      connection: 'upgrade',
      upgrade: 'h2c',
      'transfer-encoding': 'chunked',
      'content-length': '4000',
      expect: '100-continue',
    },
  });
  expect(response.status).toBe(200);
  const [received] = receiver.received;
  expect(received?.headers.host).toBe(`tools.example.com:${receiver.port}`);
  expect(received?.headers['content-length']).toBe('4');
  expect(received?.headers).not.toHaveProperty('transfer-encoding');
  expect(received?.headers).not.toHaveProperty('upgrade');
  expect(received?.body).toBe('four');
});

test.each(['http://127.0.0.1', 'http://2130706433', 'http://0x7f.1', 'http://[::ffff:127.0.0.1]'])(
  'the connector refuses the literal %s by itself, for which undici asks no lookup',
  async (origin) => {
    const receiver = await startReceiver((_, response) => response.end());
    const connect = createGuardedConnector({
      allowPrivateNetwork: false,
      lookup: async () => ['127.0.0.1'],
      connectTimeoutMs: 1_000,
    });
    const dispatcher = new Agent({ connect });
    onTestFinished(() => dispatcher.destroy());
    await expect(request(`${origin}:${receiver.port}/`, { dispatcher })).rejects.toMatchObject({
      code: 'blocked_address',
    });
    expect(receiver.connections()).toBe(0);
  },
);
