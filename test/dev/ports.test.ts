import { createServer } from 'node:net';
import type { Server } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { PORT_VARIABLES, readPorts } from '#dev/stack/environment.ts';
import { assertPortFree, freePort, isListening } from '#dev/stack/ports.ts';

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
        `Port ${port} is already in use. Stop the program that listens there, set TEMPORAL_PORT to another port, or PORT_OFFSET (to 100, say) to move all ports.`,
      );
    },
  );

  it('the offset moves every port but one that has a place of its own', () => {
    const usual = readPorts({});
    const moved = readPorts({ PORT_OFFSET: '100', UI_PORT: '4000' });
    const expected = Object.entries(usual).map(([name, port]) => [name, port + 100]);
    expect(moved).toEqual({ ...Object.fromEntries(expected), ui: 4000 });
    expect(Object.keys(moved)).toEqual(expect.arrayContaining(Object.keys(PORT_VARIABLES)));
  });

  it.each([
    [{ PORT_OFFSET: '3000' }, 'PORT would be 6000'],
    [{ PORT_OFFSET: '180' }, 'GATEWAY_PORT would be 4190'],
    [{ UI_PORT: '6666' }, 'UI_PORT would be 6666'],
  ])('ports that browsers do not open are refused: %o', (env, words) => {
    expect(() => readPorts(env)).toThrow(`${words}, a port that browsers refuse to open.`);
  });

  it('what no browser opens may have such a port', () => {
    expect(readPorts({ MAIL_SMTP_PORT: '2049' }).smtp).toBe(2049);
  });

  it.each(['11207', '-1', '1.5', 'ten'])('an offset of %s is refused with what it may be', (text) => {
    expect(() => readPorts({ PORT_OFFSET: text })).toThrow('PORT_OFFSET must be a whole number from 0 to 11206');
    expect(readPorts({ PORT_OFFSET: '11206' }).postgres).toBe(65_535);
  });
});
