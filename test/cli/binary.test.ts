import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { environmentOf } from './terminal.ts';

const test = serviceTest({ worker: true });

const CLI = path.join(import.meta.dirname, '../../cli');
const RAS = path.join(CLI, 'bin/ras.js');
const execute = promisify(execFile);

beforeAll(async () => {
  await execute(process.execPath, [path.join(CLI, 'build.ts')]);
});

async function home(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-home-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts the built program without this process's environment. */
async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [RAS, ...args], {
    env: { PATH: process.env['PATH'], HOME: await home(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close');
  return {
    child,
    words: () => stderr,
    ended: closed.then(([code]: unknown[]) => ({ code, stdout, stderr })),
  };
}

async function ras(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { ended } = await start(args, env);
  return ended;
}

test('the program exits with the codes of its commands', async ({ key }) => {
  const env = environmentOf(key);
  const id = await createRoutine(key);
  const run = await ras(['run', id, '--wait'], env);
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ routineId: id, state: 'succeeded' });
  expect(run.stderr).toMatch(/^step 0 · model · /m);
  expect(await ras(['--help'])).toMatchObject({ code: 0, stderr: '' });
  expect(await ras([])).toMatchObject({ code: 2, stdout: '' });
  expect(await ras(['rnus'], env)).toMatchObject({ code: 2, stdout: '' });
  expect(await ras(['whoami'])).toMatchObject({ code: 4, stdout: '' });
  expect(await ras(['runs', 'get', 'run_none'], env)).toMatchObject({ code: 1, stdout: '' });
});

test('Ctrl-C ends the waiting with 130, and the run goes on', async ({ key, service }) => {
  const env = environmentOf(key);
  const id = await createRoutine(key);
  const release = service.gateway.control.hold();
  const { child, words, ended } = await start(['run', id, '--wait'], env);
  await expect.poll(words).toContain('running');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  const runId = /ras runs logs -f (run_\w+)/.exec(stderr)?.[1] ?? '';
  expect((await key.get(`/v1/runs/${runId}`)).data.state).toBe('running');
  release();
  const logs = await ras(['runs', 'logs', '-f', runId], env);
  expect(logs.code).toBe(0);
  expect(logs.stdout.trim().split('\n').at(-1)).toContain('"state":"succeeded"');
});

test('a reader that has read enough ends it quietly', async () => {
  const many = Array.from({ length: 200 }, () => ({ id: 'con_1', name: 'n'.repeat(20_000) }));
  const server = await startReceiver((_, response) => response.end(JSON.stringify({ data: many })));
  const command = `'${process.execPath}' '${RAS}' connections list --limit 200 | head -c 1; echo " \${PIPESTATUS[0]}"`;
  const env = { PATH: process.env['PATH'], HOME: await home() };
  const service = { RAS_API_URL: server.origin, RAS_API_KEY: 'ras_1' };
  const { stdout, stderr } = await execute('bash', ['-c', command], {
    env: { ...env, ...service },
  });
  expect({ stdout, stderr }).toEqual({ stdout: '[ 0\n', stderr: '' });
});

test('help loads neither the SDK nor what asks questions or reads YAML', async () => {
  const hooks = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });`;
  const { stderr } = await execute(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    RAS,
    '--help',
  ]);
  expect(stderr).toContain('cli/dist/main.js');
  expect(stderr).not.toMatch(/sdk\/|@clack|\/yaml\//);
});

test('a checkout that is not built says how it is', async () => {
  const folder = await home();
  await cp(path.join(CLI, 'bin'), path.join(folder, 'bin'), { recursive: true });
  await cp(path.join(CLI, 'package.json'), path.join(folder, 'package.json'));
  const failed = execute(process.execPath, [path.join(folder, 'bin/ras.js'), '--help']);
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^.*npm run cli:build.*\n$/),
  });
});
