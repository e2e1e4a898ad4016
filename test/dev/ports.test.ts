import { createServer } from 'node:net';
import type { Server } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { assertPortFree, freePort, isListening } from '#dev/ports.ts';

let server: Server | undefined;
async function listen(host: string): Promise<number> {
  const port = await freePort();
  server = createServer();
  await new Promise<void>((resolve) => server!.listen(port, host, resolve));
  return port;
}

afterEach(async () => {
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

describe('ports', () => {
  it('a free port passes and can then be listened on', async () => {
    const port = await freePort();
    await expect(assertPortFree(port, 'PORT')).resolves.toBeUndefined();
    expect(await isListening(port)).toBe(false);
  });

  it.each(['127.0.0.1', '0.0.0.0'])(
    'a port taken on %s is named together with the variable that moves it',
    async (host) => {
      const port = await listen(host);
      expect(await isListening(port)).toBe(true);
      await expect(assertPortFree(port, 'TEMPORAL_PORT')).rejects.toThrow(
        `Port ${port} is already in use. Stop the program that listens there, or set TEMPORAL_PORT to another port.`,
      );
    },
  );
});
