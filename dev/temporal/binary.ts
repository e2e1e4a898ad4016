import { execFile } from 'node:child_process';
import { access, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { cacheDir } from '../cache-dir.ts';
import type { Log } from '../child.ts';
import type { Guard } from '../children.ts';
import { withLock } from '../lock.ts';
import { buildBinary } from './build.ts';
import { DOWNLOAD_URL, downloadBinary } from './download.ts';
import { CLI_VERSION, GO_VERSION, isPinnedOrLater } from './version.ts';

export interface TemporalBinary {
  path: string;
  source: 'path' | 'cache' | 'download' | 'build';
}

export interface BinaryOptions {
  env: NodeJS.ProcessEnv;
  /** Called every few seconds with what takes long, and for how long. */
  onProgress: Log;
  /** Ensures that a build does not outlive us. */
  guard?: Guard;
  /** Aborts a download or build. */
  signal?: AbortSignal;
  downloadUrl?: string;
}

/**
 * Returns the path of the Temporal CLI, which contains the development server: from PATH, from the user's cache,
 * downloaded, or built from the pinned Go module. Throws an error that names every way to get one.
 */
export async function ensureTemporalBinary(options: BinaryOptions): Promise<TemporalBinary> {
  const cached = cachedPath(options.env);
  const onPath = await findOnPath(options.env);
  if (onPath.path !== undefined) return { path: onPath.path, source: 'path' };
  if (await works(cached)) return { path: cached, source: 'cache' };

  return withLock(
    `${dirname(cached)}.lock`,
    async () => {
      // Another clone may have put it there while we waited for the lock.
      if (await works(cached)) return { path: cached, source: 'cache' };
      await clearLeftovers(dirname(cached));
      const download = await attempt(cached, (to) => downloadBinary(to, options));
      if (download === undefined) return { path: cached, source: 'download' };
      options.signal?.throwIfAborted();
      const build = await attempt(cached, (to) => buildBinary(to, options));
      if (build === undefined) return { path: cached, source: 'build' };
      options.signal?.throwIfAborted();
      throw noBinary({ onPath: onPath.reason, cached, download, build });
    },
    () => options.onProgress('Another start on this machine is fetching Temporal; waiting for it.'),
  );
}

/** Returns the path of the pinned version in the user's cache folder. */
export function cachedPath(env: NodeJS.ProcessEnv): string {
  return join(
    cacheDir(env),
    'temporal',
    `${CLI_VERSION}-${process.platform}-${process.arch}`,
    EXECUTABLE,
  );
}

const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

type Found = { path: string; reason?: never } | { path?: never; reason: string };

async function findOnPath(env: NodeJS.ProcessEnv): Promise<Found> {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, EXECUTABLE);
    if (!(await isExecutable(path))) continue;
    const version = await versionOf(path);
    if (isPinnedOrLater(version)) return { path };
    return { reason: `${path} says "${version}"` };
  }
  return { reason: 'not found' };
}

/**
 * Creates the file under a temporary name and moves it into place whole. @returns the reason why it failed, if it did
 */
async function attempt(
  destination: string,
  get: (temporary: string) => Promise<void>,
): Promise<string | undefined> {
  const temporary = join(dirname(destination), `.${process.pid}.${EXECUTABLE}`);
  try {
    await mkdir(dirname(destination), { recursive: true });
    await get(temporary);
    const version = await versionOf(temporary);
    if (!isPinnedOrLater(version)) return `what came does not work: "${version}"`;
    await rename(temporary, destination);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Deletes the temporary files of a start that was killed; only called under the lock. */
async function clearLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names
      .filter((name) => name.startsWith('.'))
      .map((name) => rm(join(folder, name), { recursive: true, force: true })),
  );
}

async function works(path: string): Promise<boolean> {
  return (await isExecutable(path)) && isPinnedOrLater(await versionOf(path));
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the output of `--version`, or the reason why it could not be run. */
function versionOf(path: string): Promise<string> {
  return promisify(execFile)(path, ['--version'], { timeout: 20_000 }).then(
    ({ stdout }) => stdout.trim(),
    (error: Error) => error.message,
  );
}

function noBinary(why: { onPath: string; cached: string; download: string; build: string }): Error {
  return new Error(
    [
      'No Temporal server could be found. Any one of these gives one:',
      '  1. Set TEMPORAL_ADDRESS to a Temporal server that is already running.',
      `  2. Install the Temporal CLI ${CLI_VERSION} or later on PATH (${why.onPath}).`,
      `  3. Put its executable at ${why.cached} (not there).`,
      `  4. Let this machine reach ${DOWNLOAD_URL}, to download it (${why.download}).`,
      `  5. Install Go ${GO_VERSION} or later, to build it (${why.build}).`,
    ].join('\n'),
  );
}
