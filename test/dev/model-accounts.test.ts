import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawnChild, type Child } from '#dev/stack/child.ts';
import { PORT_VARIABLES, readPorts } from '#dev/stack/environment.ts';
import { startModelAccounts } from '#dev/stack/model-accounts.ts';
import { freePort } from '#dev/stack/ports.ts';
import { createRuntimeClient } from '#lib/runtime-client/index.ts';
import { HAS_BUBBLEWRAP, WHY_SKIPPED } from '#test/runtime/bubblewrap.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

/** Starts the accounts of a local start, and returns the runtime's description of itself and the notes for the user. */
async function startedWith(env: NodeJS.ProcessEnv) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ras-accounts-'));
  const children: Child[] = [];
  onTestFinished(async () => {
    await Promise.all(children.map((child) => child.stop()));
    rmSync(dataDir, { recursive: true, force: true });
  });
  const ports: Record<string, string> = {};
  for (const [variable] of Object.values(PORT_VARIABLES)) ports[variable] = `${await freePort()}`;
  const said: string[] = [];
  const variables = await startModelAccounts({
    ports: readPorts(ports),
    dataDir,
    env,
    uiOrigin: 'http://localhost:3001',
    secret: SECRET,
    note: (sentence) => said.push(sentence),
    async spawn(options) {
      const child = await spawnChild(options);
      children.push(child);
      return child;
    },
  });
  const client = createRuntimeClient({
    url: variables['MODEL_RUNTIME_URL'] ?? '',
    secret: SECRET,
    ca: readFileSync(variables['MODEL_RUNTIME_CA_FILE'] ?? '', 'utf8'),
    issuer: 'test',
    requireIsolation: false,
  });
  onTestFinished(() => client.close());
  const { sandbox, providers } = await client.hello();
  return { said, sandbox, providers: Object.keys(providers).toSorted() };
}

const SLOTS = ['provider-a', 'provider-b', 'provider-c'];

test('without bubblewrap a local start has its model accounts all the same, and says what is missing', async () => {
  const { said, ...runtime } = await startedWith({ ...process.env, PATH: '' });
  expect(runtime).toEqual({ sandbox: 'process', providers: SLOTS });
  expect(said).toEqual([expect.stringContaining('bubblewrap is not installed')]);
});

test('on another system than Linux there are none, and the summary says why', async () => {
  const said: string[] = [];
  const variables = await startModelAccounts({
    ports: readPorts({}),
    dataDir: tmpdir(),
    env: {},
    uiOrigin: 'http://localhost:3001',
    secret: SECRET,
    note: (sentence) => said.push(sentence),
    platform: 'darwin',
    spawn: () => Promise.reject(new Error('nothing is started')),
  });
  expect([variables, said]).toEqual([{}, [expect.stringContaining('their sandbox needs Linux')]]);
});

test.skipIf(!HAS_BUBBLEWRAP)(`with it their sessions are isolated${WHY_SKIPPED}`, async () => {
  const { said, ...runtime } = await startedWith(process.env);
  expect(runtime).toEqual({ sandbox: 'bubblewrap', providers: SLOTS });
  expect(said).toEqual([]);
});
