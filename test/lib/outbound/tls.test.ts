import http2 from 'node:http2';
import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { certificate, key, localClient, portOf, startReceiver } from './receiver.ts';

test('a self-signed certificate is a TLS error: the request cannot have arrived', async () => {
  const receiver = await startReceiver((_, response) => response.end(), { tls: true });
  const client = localClient();
  const error = await client.request({ url: `${receiver.origin}/?canary=1` }).catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: 'tls_error',
    message: `127.0.0.1:${receiver.port}: no trusted TLS connection (DEPTH_ZERO_SELF_SIGNED_CERT)`,
    mayHaveArrived: false,
  });
  await expect(client.fetch(receiver.origin)).rejects.toMatchObject({ code: 'tls_error' });
  expect(receiver.received).toHaveLength(0);
});

test('a certificate for another host is a TLS error', async () => {
  const receiver = await startReceiver((_, response) => response.end(), { tls: true });
  const client = localClient({ ca: certificate, lookup: async () => ['127.0.0.1'] });
  const known = await client.request({ url: `https://tools.example.com:${receiver.port}/` });
  expect(known.status).toBe(200);
  await expect(client.request({ url: `https://other.example.com:${receiver.port}/` })).rejects.toMatchObject({
    code: 'tls_error',
    message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  });
  expect(receiver.received).toHaveLength(1);
});

test('a server that does not speak TLS is a TLS error', async () => {
  const receiver = await startReceiver((_, response) => response.end());
  await expect(localClient().request({ url: `https://127.0.0.1:${receiver.port}/` })).rejects.toMatchObject({
    code: 'tls_error',
    mayHaveArrived: false,
  });
});

test('a refused connection is not called a TLS error', async () => {
  const client = localClient({ lookup: async () => ['127.0.0.1', '127.0.0.2'] });
  await expect(client.request({ url: 'https://127.0.0.1:9/' })).rejects.toMatchObject({
    code: 'blocked_url',
  });
  const receiver = await startReceiver((_, response) => response.end());
  await expect(
    client.request({ url: `https://tools.example.com:${receiver.port === 1024 ? 1025 : 1024}/` }),
  ).rejects.toMatchObject({ code: 'connect_failed', mayHaveArrived: false });
});

test('HTTP/2 is not spoken even where it is offered', async () => {
  const server = http2.createSecureServer({ cert: certificate, key, allowHTTP1: true });
  server.on('request', (request, response) => response.end(request.httpVersion));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = localClient({ ca: certificate });
  onTestFinished(async () => {
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const response = await client.request({ url: `https://127.0.0.1:${portOf(server)}/` });
  expect(response.body.toString()).toBe('1.1');
});

test('a server that accepts the connection but never shakes hands is a connect timeout', async () => {
  const server = net.createServer();
  const sockets: net.Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  await expect(
    localClient({ connectTimeoutMs: 300 }).request({ url: `https://127.0.0.1:${portOf(server)}/` }),
  ).rejects.toMatchObject({ code: 'timeout', mayHaveArrived: false });
});
