import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '#dev/stack/cache-dir.ts';
import { errorCode } from '#dev/stack/error-code.ts';
import { withLock } from '#dev/stack/lock.ts';
import { elapsed, reportEvery } from '#dev/stack/progress.ts';

/** Runs one command of an installation in its folder. An error contains the end of the command's output. */
export type Run = (command: string, ...args: string[]) => Promise<void>;

/**
 * Installs software once on each machine, into a folder of the user's cache.
 * @param name contains the versions: another name is another installation
 * @returns the folder
 */
export async function installOnce(name: string, install: (run: Run, folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(cacheDir(process.env), 'real', name);
  const complete = path.join(folder, '.complete');
  const isThere = () => access(complete).then(...ALWAYS);
  if (await isThere()) return folder;
  return withLock(`${folder}.lock`, async () => {
    if (await isThere()) return folder;
    // Delete a half-finished installation. Python programs contain their path, so they are installed again in this
    // place.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const startedAt = Date.now();
    let doing = 'starting';
    const reports = reportEvery(20_000, () =>
      console.log(`  Installing ${name}, once for this machine: ${doing} (${elapsed(startedAt)})`),
    );
    try {
      await install(async (command, ...args) => {
        doing = [path.basename(command), ...args].join(' ').slice(0, 60);
        await runIn(folder, command, args);
      }, folder);
      await writeFile(complete, '');
      return folder;
    } finally {
      reports.stop();
    }
  });
}

const ALWAYS = [() => true, () => false] as const;

/** Sources of the commands that installations need: a package of Debian, or another source. */
const BROUGHT_BY: Readonly<Record<string, string>> = {
  python3: 'Python 3.10 or later with venv (apt install python3-venv)',
  cmake: 'CMake (apt install cmake)',
  ninja: 'Ninja (apt install ninja-build)',
  'c++': 'a C++ compiler (apt install g++)',
  go: 'Go 1.25 or later (https://go.dev/dl)',
  npm: 'npm, which comes with Node.js',
};

/** @throws an error that names all missing commands, and how to get each */
export async function requireCommands(...names: string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    const isThere = await run(name, [name === 'go' ? 'version' : '--version']).then(...ALWAYS);
    if (!isThere) missing.push(BROUGHT_BY[name] ?? name);
  }
  if (missing.length > 0) throw new Error(`These tests need ${missing.join(' and ')}.`);
}

const run = promisify(execFile);

async function runIn(cwd: string, command: string, args: readonly string[]): Promise<void> {
  try {
    await run(command, args, { cwd, timeout: 50 * 60_000, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const why = errorCode(error) === 'ENOENT' ? 'not found' : `${stdout}\n${stderr}`.slice(-2_000);
    throw new Error(`${command} ${args.join(' ')}: ${why}`, { cause: error });
  }
}
