import path from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { PORT_VARIABLES, withoutSettings } from '#dev/environment.ts';
import { freePort } from '#dev/ports.ts';
import { type Benchmark, plain } from './harness/benchmark.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const LEFT_OUT = new Set(['node_modules', '.git', '.data', '.env', path.join('bench', 'results')]);

const startTime: Benchmark = {
  about:
    '`npm start` in a clone of its own, until the summary is printed; the Temporal binary is in the cache',
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

export default startTime;

/** Seconds from the command to its summary. Everything it started has ended when this resolves. */
async function start(folder: string): Promise<number> {
  const ports: Record<string, string> = {};
  for (const [variable] of Object.values(PORT_VARIABLES))
    ports[variable] = String(await freePort());
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
    // Signals the whole group, as Ctrl-C in a terminal does.
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
