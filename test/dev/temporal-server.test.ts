import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { freePort } from '#dev/stack/ports.ts';
import { identify } from '#dev/stack/processes.ts';
import { ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
import { startTemporal } from '#dev/stack/temporal/server.ts';
import type { Temporal } from '#dev/stack/temporal/server.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

let binary: string;
let dataDir: string;
let port: number;
let running: Temporal | undefined;

beforeAll(async () => {
  ({ path: binary } = await ensureTemporalBinary({ env: process.env, onProgress: console.log }));
  dataDir = mkdtempSync(join(tmpdir(), 'ras-temporal-test-'));
  port = await freePort();
  // A temporary folder of the test's own, because other tests have temporary folders at the same time.
  mkdirSync(join(dataDir, 'tmp'));
  vi.stubEnv('TMPDIR', join(dataDir, 'tmp'));
}, 900_000);

afterAll(async () => {
  await running?.stop();
  vi.unstubAllEnvs();
  rmSync(dataDir, { recursive: true, force: true });
});

async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

/** The tests use one server, in order, from its first start on. */
describe('the Temporal development server', () => {
  it('starts with its UI, and takes workflows with our search attributes', async () => {
    const uiPort = await freePort();
    running = await startTemporal({ binary, dataDir, port, uiPort, log: () => {} });
    expect(running.address).toBe(`127.0.0.1:${port}`);
    const page = await fetch(running.uiUrl!);
    expect(await page.text()).toContain('<html');
    await withClient(running.address, (client) =>
      client.workflow.start('without-a-worker', {
        workflowId: 'kept',
        taskQueue: 'none',
        args: [],
        searchAttributes: {
          RasProject: ['prj_1'],
          RasRoutine: ['rtn_1'],
          RasTrigger: ['manual'],
        },
      }),
    );
  });

  it.runIf(FULL_SIZE)('finds its workflows again after kill -9', async () => {
    process.kill(running!.pid, 'SIGKILL');
    await expect.poll(() => identify(running!.pid)).toBeUndefined();
    running = await startTemporal({ binary, dataDir, port, uiPort: null, log: () => {} });
    expect(running.uiUrl).toBeNull();
    const status = await withClient(running.address, (client) =>
      client.workflow
        .getHandle('kept')
        .describe()
        .then((description) => description.status.name),
    );
    expect(status).toBe('RUNNING');
  });

  it('stops and leaves nothing behind', async () => {
    const { pid } = running!;
    await running!.stop();
    expect(identify(pid)).toBeUndefined();
    running = undefined;
  });

  it('says why it could not start, and removes its temporary folder', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    await expect(startTemporal({ binary, dataDir, port, uiPort: null, log: () => {} })).rejects.toThrow(
      `Temporal cannot start: port ${port} is already in use.`,
    );
    await new Promise((resolve) => taken.close(resolve));

    const dynamicConfig = { 'not a key="': 1 };
    await expect(
      startTemporal({
        binary,
        dataDir: undefined,
        port,
        uiPort: null,
        log: () => {},
        dynamicConfig,
      }),
    ).rejects.toThrow(/Temporal did not start: it ended\.\n.*Error/s);
    expect(temporaryFolders()).toEqual([]);
  });

  it.runIf(FULL_SIZE)('runs in a temporary folder that goes with it', async () => {
    const temporal = await startTemporal({
      binary,
      dataDir: undefined,
      port,
      uiPort: null,
      log: () => {},
    });
    expect(temporaryFolders()).toHaveLength(1);
    await temporal.stop();
    expect(temporaryFolders()).toEqual([]);
  });
});

function temporaryFolders(): string[] {
  return readdirSync(join(dataDir, 'tmp'));
}
