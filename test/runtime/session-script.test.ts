import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { FIXTURE_KEY } from '#dev/fakes/providers/server.ts';
import { readProviderFile } from '#lib/provider-file/index.ts';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { bubblewrapCommand } from '#runtime/sandbox/command.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';
import { bundleName, SESSION_SOURCE, sessionScript } from '#runtime/sandbox/session-script.ts';
import { HAS_BUBBLEWRAP } from './bubblewrap.ts';
import { BODY, createRig, type Rig } from './rig.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

test('a bundle is used only if it was built from exactly these sources', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'ras-session-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const part of ['runtime', 'lib/provider-file', 'lib/exact-json', 'package-lock.json']) {
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true });
  }
  expect(sessionScript(root)).toBe(SESSION_SOURCE);
  const built = bundleName(root);
  mkdirSync(path.join(root, 'dist'));
  writeFileSync(path.join(root, 'dist', built), '');
  expect(sessionScript(root)).toBe(`dist/${built}`);
  for (const part of [
    SESSION_SOURCE,
    'lib/provider-file/protocols.ts',
    'lib/exact-json/parse.ts',
    'package-lock.json',
  ]) {
    const before = readFileSync(path.join(root, part));
    writeFileSync(path.join(root, part), `${before.toString()}\n`);
    expect(sessionScript(root), part).toBe(SESSION_SOURCE);
    writeFileSync(path.join(root, part), before);
  }
  expect(sessionScript(root)).toBe(`dist/${built}`);
});

test('a bundled session sees no code but its own', () => {
  const bound = (script: string) =>
    bubblewrapCommand({ script, socketPath: '/the.sock' }).args.filter((word) => word.startsWith('/app/'));
  const bundle = sessionScript();
  // The sandbox binds the script, and Node gets its path.
  expect(bound(bundle)).toEqual([`/app/${bundle}`, `/app/${bundle}`]);
  expect(bound(SESSION_SOURCE)).toContain('/app/node_modules');
});

test('a session that runs its sources responds like one that runs its bundle', async () => {
  const rig = await createRig();
  onTestFinished(() => rig.close());
  const bundle = sessionScript();
  expect(bundle).toMatch(/\.mjs$/);
  const fromSources = await answerOf(rig, SESSION_SOURCE);
  expect(fromSources).toMatchObject({ result: { finishReason: 'stop' } });
  expect(await answerOf(rig, bundle)).toEqual(fromSources);
});

/** Performs one step in a session that runs this script. */
async function answerOf(rig: Rig, script: string): Promise<unknown> {
  const sandbox = createSandbox(HAS_BUBBLEWRAP ? 'bubblewrap' : 'process');
  onTestFinished(() => sandbox.close());
  const socketPath = sandbox.socketPath();
  const broker = await startBroker(socketPath);
  onTestFinished(() => broker.close());
  const file = readFileSync(path.join(rig.folder, 'provider-c.yaml'));
  const provider = readProviderFile('provider-c', file, { termsAccepted: false });
  broker.assign({
    provider,
    allowed: [{ method: 'POST', path: '/messages' }],
    credential: { value: FIXTURE_KEY, account: null },
    signal: new AbortController().signal,
    fetch,
  });
  const { protocol, options } = provider.file.api;
  const session = sandbox.launch(script, socketPath);
  onTestFinished(() => session.kill());
  session.stderr.resume();
  session.stdin.end(
    JSON.stringify({
      protocol,
      path: '/messages',
      ...BODY,
      options,
      limits: provider.file.limits,
      idleMs: 10_000,
    }),
  );
  return JSON.parse(await text(session.stdout)) as unknown;
}
