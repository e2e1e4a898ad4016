import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Child } from '#dev/stack/child.ts';
import { PORT_VARIABLES, withoutSettings } from '#dev/stack/environment.ts';
import { freePort } from '#dev/stack/ports.ts';
import { type Benchmark, type Benchmarks, compared, plain } from './harness/benchmark.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine, residentMb, startService } from './harness/service.ts';

const IN_FLIGHT = 16;

/** Number of garbage collections: the second collects the garbage that finalizers release in the first. */
const COLLECTIONS = 2;

const memory: Benchmark = {
  about:
    'resident memory of API and worker: at rest, at work, and what is left after more runs against fewer, garbage collected',
  async run({ stack, long }) {
    const [few, many] = long ? [1_000, 10_000] : [1_000, 3_000];
    const preload = new URL('harness/collect-on-signal.ts', import.meta.url).href;
    const service = await startService(stack, { env: { NODE_OPTIONS: `--import=${preload}` } });
    const watch = await watchRuns(service);
    const { api, worker } = service;
    if (worker === undefined) throw new Error('the service has no worker');
    try {
      const routineId = await demoRoutine(service);
      const rest = await held(api, worker);
      let done = 0;
      /**
       * Runs the routine until `count` runs are done. Returns the memory of both processes during the last `few / 2`
       * runs, and after all runs.
       */
      const runUntil = async (count: number) => {
        const samples: Memory[] = [];
        const keepRunning = async () => {
          while (done < count) {
            done += 1;
            await runToSuccess(service, watch, routineId);
            if (done > count - few / 2) samples.push(await both(api, worker));
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, keepRunning));
        const atWork = { api: samples.map((at) => at.api), worker: samples.map((at) => at.worker) };
        return { atWork, held: await held(api, worker) };
      };
      const afterFew = await runUntil(few);
      const afterMany = await runUntil(many);
      return [
        plain('API at rest', 'MB', [rest.api]),
        plain('worker at rest', 'MB', [rest.worker]),
        plain(`API at work, up to the ${few}th run`, 'MB', afterFew.atWork.api),
        plain(`API at work, up to the ${many}th run`, 'MB', afterMany.atWork.api),
        plain(`worker at work, up to the ${few}th run`, 'MB', afterFew.atWork.worker),
        plain(`worker at work, up to the ${many}th run`, 'MB', afterMany.atWork.worker),
        growth(`API after ${many} runs against ${few}`, afterMany.held.api, afterFew.held.api),
        growth(`worker after ${many} runs against ${few}`, afterMany.held.worker, afterFew.held.worker),
      ];
    } finally {
      await watch.stop();
      await service.stop();
    }
  },
};

interface Memory {
  readonly api: number;
  readonly worker: number;
}

async function both(api: Child, worker: Child): Promise<Memory> {
  return { api: await residentMb(api), worker: await residentMb(worker) };
}

/** Returns the memory that is left when all garbage is collected. */
async function held(api: Child, worker: Child): Promise<Memory> {
  for (let round = 0; round < COLLECTIONS; round += 1) {
    for (const { pid } of [api, worker]) process.kill(pid, 'SIGUSR2');
    await sleep(2_000);
  }
  return both(api, worker);
}

function growth(what: string, value: number, baseline: number) {
  return compared(what, 'MB', { value: [value], baseline: [baseline] }, { atMost: 1.2 });
}

const ROOT = path.resolve(import.meta.dirname, '..');
const LEFT_OUT = new Set(['node_modules', '.git', '.data', '.env', path.join('bench', 'results')]);

const startTime: Benchmark = {
  about: '`npm start` in a clone of its own, until the summary is printed; the Temporal binary is in the cache',
  async run({ long }) {
    const clone = await mkdtemp(path.join(tmpdir(), 'ras-bench-clone-'));
    try {
      await cp(ROOT, clone, {
        recursive: true,
        filter: (source) => !LEFT_OUT.has(path.relative(ROOT, source)),
      });
      await symlink(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
      const first = await start(clone);
      const again: number[] = [];
      for (let round = 0; round < (long ? 5 : 3); round += 1) again.push(await start(clone));
      return [
        plain('npm start, first in a new folder', 's', [first]),
        plain('npm start, again', 's', again, { atMost: 10 }),
      ];
    } finally {
      await rm(clone, { recursive: true, force: true });
    }
  },
};

/** Returns the seconds from the command to its summary, after everything that the command started has ended. */
async function start(folder: string): Promise<number> {
  const ports: Record<string, string> = {};
  for (const [variable] of Object.values(PORT_VARIABLES)) ports[variable] = String(await freePort());
  const started = performance.now();
  const npm = spawn('npm', ['start', '--', '--fixture'], {
    cwd: folder,
    env: { ...withoutSettings(process.env), ...ports },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    npm.once('exit', () => resolve());
  });
  try {
    await said(npm, 'Ready after');
    return (performance.now() - started) / 1_000;
  } finally {
    // Signal the whole group, as Ctrl-C in a terminal does.
    if (npm.pid !== undefined && npm.exitCode === null) process.kill(-npm.pid, 'SIGINT');
    await ended;
  }
}

function said(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(text)) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => reject(new Error(`npm start ended by itself:\n${output}`)));
  });
}

export default { memory, 'start-time': startTime } satisfies Benchmarks;
