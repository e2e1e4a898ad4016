import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { superviseChildren } from '#dev/stack/children.ts';
import { exists, identify, isRunning, parentOf } from '#dev/stack/processes.ts';
import type { ProcessIdentity } from '#dev/stack/processes.ts';

import { firstLine } from './fixtures/first-line.ts';
import { FULL_SIZE, PATIENCE_MS } from '#test/support/properties.ts';

const SCRIPT = fileURLToPath(new URL('fixtures/supervisor.ts', import.meta.url));
const IDLE = 'setInterval(() => {}, 1000)';
const STUBBORN = `process.on('SIGTERM', () => {}); ${IDLE}`;
const WITH_GRANDCHILD = `require('child_process').spawn('sleep', ['100']); ${IDLE}`;

let dataDir: string;
let supervisors: ChildProcess[] = [];
let seen: ProcessIdentity[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ras-children-'));
});

afterEach(async () => {
  const [started, left] = [supervisors, seen];
  supervisors = [];
  seen = [];
  for (const supervisor of started) supervisor.kill('SIGKILL');
  for (const process of left) await gone(process);
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts the fixture and resolves with the identities of its children. */
async function start(
  programs: string[],
  [command, ...before]: [string, ...string[]] = [process.execPath],
  env: NodeJS.ProcessEnv = {},
): Promise<{ supervisor: ChildProcess; children: ProcessIdentity[] }> {
  const supervisor = spawn(command, [...before, SCRIPT, dataDir, ...programs], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: undefined, ...env },
  });
  supervisors.push(supervisor);
  const pids = z.array(z.int()).parse(JSON.parse(await firstLine(supervisor.stdout)));
  const children = pids.map((pid) => identify(pid)!);
  seen.push(...children);
  return { supervisor, children };
}

async function gone(process: ProcessIdentity): Promise<void> {
  await vi.waitFor(() => expect(isRunning(process)).toBe(false), { timeout: PATIENCE_MS, interval: 25 });
}

/** Returns the watchdog, which is the supervisor's only child that runs the script of that name. */
async function watchdogOf(supervisor: number): Promise<ProcessIdentity> {
  const found = await vi.waitFor(
    () => {
      const pids = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
      const watchdog = pids
        .split(' ')
        .filter(Boolean)
        .map(Number)
        .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('watchdog'));
      // For an instant after a kill there is no watchdog.
      if (watchdog === undefined) throw new Error('no watchdog');
      const identity = identify(watchdog);
      if (identity === undefined) throw new Error('the watchdog is gone');
      return identity;
    },
    { timeout: PATIENCE_MS },
  );
  seen.push(found);
  return found;
}

const onLinux = process.platform === 'linux';

describe('children under supervision', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s stops them all, and the supervisor ends well',
    async (signal) => {
      const { supervisor, children } = await start([IDLE, IDLE]);
      supervisor.kill(signal);
      const [code] = await once(supervisor, 'exit');
      expect(code).toBe(0);
      expect(children.map(isRunning)).toEqual([false, false]);
      expect(existsSync(join(dataDir, 'pids.json'))).toBe(false);
    },
  );

  it.runIf(FULL_SIZE)('a process that ignores the request to end is killed after a grace period', async () => {
    const { supervisor, children } = await start([STUBBORN]);
    await sleep(300);
    supervisor.kill('SIGTERM');
    await once(supervisor, 'exit');
    expect(isRunning(children[0]!)).toBe(false);
  });

  it.runIf(FULL_SIZE)('a normal exit that forgets them leaves none behind', async () => {
    const { supervisor, children } = await start([IDLE]);
    supervisor.stdin!.write('exit\n');
    await once(supervisor, 'exit');
    await gone(children[0]!);
  });

  it('kill -9 of the supervisor leaves none behind, nor what they started themselves', async () => {
    const { supervisor, children } = await start([IDLE, STUBBORN, WITH_GRANDCHILD]);
    await sleep(300);
    const grandchild = onLinux
      ? Number(readFileSync(`/proc/${children[2]!.pid}/task/${children[2]!.pid}/children`, 'utf8'))
      : undefined;
    supervisor.kill('SIGKILL');
    for (const child of children) await gone(child);
    if (grandchild) await expect.poll(() => exists(grandchild)).toBe(false);
  });

  it.runIf(FULL_SIZE)('the next start works at once after kill -9, while the watchdog is still at work', async () => {
    const { supervisor, children } = await start([STUBBORN, STUBBORN]);
    await sleep(300);
    supervisor.kill('SIGKILL');
    await once(supervisor, 'exit');
    const next = await start([IDLE]);
    expect(children.map(isRunning)).toEqual([false, false]);
    await sleep(1_000);
    expect(isRunning(next.children[0]!)).toBe(true);
    expect(readFileSync(join(dataDir, 'pids.json'), 'utf8')).toContain(`${next.supervisor.pid}`);
  });

  it.runIf(onLinux)('a watchdog that is killed is replaced and does its duty', async () => {
    const { supervisor, children } = await start([IDLE]);
    const first = await watchdogOf(supervisor.pid!);
    process.kill(first.pid, 'SIGKILL');
    await gone(first);
    await watchdogOf(supervisor.pid!);
    // The pause avoids the case that `pids.json` is for: both die between the watchdog's start and its first list.
    await sleep(500);
    supervisor.kill('SIGKILL');
    await gone(children[0]!);
  });

  it.runIf(FULL_SIZE && onLinux)(
    'when supervisor and watchdog are both killed, the next start stops the survivors',
    async () => {
      const { supervisor, children } = await start([IDLE]);
      const watchdog = await watchdogOf(supervisor.pid!);
      supervisor.kill('SIGSTOP');
      process.kill(watchdog.pid, 'SIGKILL');
      supervisor.kill('SIGKILL');
      await once(supervisor, 'exit');
      await sleep(200);
      expect(isRunning(children[0]!)).toBe(true);

      const messages: string[] = [];
      const next = await superviseChildren({ dataDir, log: (message) => messages.push(message) });
      expect(isRunning(children[0]!)).toBe(false);
      expect(messages).toEqual(['Stopping what an earlier start left: child 0']);
      await next.stopAll();
    },
  );

  it('a process that has the pid of an old child is left alone', async () => {
    const stranger = spawn('sleep', ['100']);
    await once(stranger, 'spawn');
    const identity = identify(stranger.pid!)!;
    writeFileSync(
      join(dataDir, 'pids.json'),
      JSON.stringify({
        children: [{ name: 'old', identity: { pid: stranger.pid, startedAt: 'before' }, stop: {} }],
      }),
    );
    const children = await superviseChildren({ dataDir, log: () => {} });
    expect(isRunning(identity)).toBe(true);
    await children.stopAll();
    stranger.kill('SIGKILL');
  });

  it('a second start on the same folder is refused while the first lives', async () => {
    const { supervisor } = await start([IDLE]);
    await expect(superviseChildren({ dataDir, log: () => {} })).rejects.toThrow(
      `Already running here, as process ${supervisor.pid}.`,
    );
  });

  it('a child that ends by itself is reported, one that is stopped is not', async () => {
    const reported: string[] = [];
    const children = await superviseChildren({
      dataDir,
      log: () => {},
      onUnexpectedExit: (child, exit) => reported.push(`${child.name} ${exit.code}`),
    });
    const run = (name: string, program: string) =>
      children.spawn({
        name,
        command: process.execPath,
        args: ['-e', program],
        logFile: join(dataDir, 'log'),
      });
    const crashing = await run('crashing', 'console.log("oh no"); process.exit(3)');
    const idle = await run('idle', IDLE);
    await crashing.exited;
    expect(crashing.outputTail()).toBe('oh no\n');
    await idle.stop();
    expect(reported).toEqual(['crashing 3']);
    await children.stopAll();
  });

  it('a program that does not exist is an error that names the child', async () => {
    const children = await superviseChildren({ dataDir, log: () => {} });
    await expect(children.spawn({ name: 'Ghost', command: '/no/such/program', args: [] })).rejects.toThrow(
      'Ghost could not be started',
    );
    await children.stopAll();
  });

  it('one that is just being started when everything stops is stopped too', async () => {
    const children = await superviseChildren({ dataDir, log: () => {} });
    const options = { name: 'late', command: process.execPath, args: ['-e', IDLE] };
    const starting = children.spawn(options);
    await children.stopAll();
    const late = await starting;
    expect(identify(late.pid)).toBeUndefined();
    await expect(children.spawn(options)).rejects.toThrow('everything is stopping');
  });

  it.runIf(FULL_SIZE)('the end of the npm that runs the script stops everything', async () => {
    // npm runs scripts through such an inner shell; the outer shell stands in for npm.
    const inner = `${process.execPath} "$@"; true`;
    const { supervisor, children } = await start([IDLE], ['sh', '-c', `sh -c '${inner}' sh "$@"; true`, 'sh'], {
      npm_lifecycle_event: 'start',
    });
    const shell = parentOf(parentOf(children[0]!.pid)!)!;
    expect(parentOf(shell)).toBe(supervisor.pid);
    supervisor.kill('SIGKILL');
    await gone(children[0]!);
  });
});
