import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, inject, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { openTemporal } from '#lib/temporal/index.ts';

function clientOf(port: number) {
  return openTemporal({
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TEMPORAL_NAMESPACE: 'default',
    TEMPORAL_TLS: false,
  });
}

test('a client finds a server that comes up after it did, and finds it again when it was away', async () => {
  const port = await freePort();
  const client = await clientOf(port);
  const healthy = () => client.withDeadline(Date.now() + 1_000, () => client.workflowService.getSystemInfo({}));
  await expect(healthy()).rejects.toThrow();
  const server = await forward(port);
  try {
    await expect(healthy()).resolves.toBeDefined();
    server.stop();
    await expect(healthy()).rejects.toThrow();
    await server.start();
    await expect.poll(() => healthy().then(() => 'well')).toBe('well');
  } finally {
    await client.connection.close();
    server.stop();
  }
});

test('a silent server is waited for until the deadline, and does not delay a close', async () => {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const client = await clientOf(port);
  const call = client.withDeadline(Date.now() + 300, () => client.workflowService.getSystemInfo({}));
  await expect(call).rejects.toThrow('in time');
  await client.connection.close();
  expect([...sockets].map((socket) => socket.destroyed)).not.toContain(true);
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Starts a proxy before Temporal that can be stopped and restarted. */
async function forward(port: number) {
  const [host, serverPort] = inject('temporalAddress').split(':');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const behind = connect(Number(serverPort), host);
    for (const end of [socket, behind]) {
      sockets.add(end);
      end.on('error', () => undefined);
      end.on('close', () => sockets.delete(end));
    }
    socket.pipe(behind).pipe(socket);
  });
  const start = () => once(server.listen(port, '127.0.0.1'), 'listening');
  await start();
  return {
    start,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
