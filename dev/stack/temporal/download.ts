import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import { EnvHttpProxyAgent, fetch } from 'undici';
import type { Dispatcher, Response } from 'undici';
import { z } from 'zod';

import type { Log } from '../child.ts';
import { elapsed, reportEvery } from '../progress.ts';
import { CLI_VERSION } from './version.ts';

/** Address at which Temporal's own SDKs look up the archive of a release. */
export const DOWNLOAD_URL = 'https://temporal.download';

export interface DownloadOptions {
  onProgress: Log;
  signal?: AbortSignal;
  downloadUrl?: string;
}

/**
 * Downloads the official release of the pinned CLI to the file `destination`. An unreachable host fails within seconds;
 * HTTPS_PROXY and NO_PROXY apply.
 */
export async function downloadBinary(
  destination: string,
  { onProgress, signal, downloadUrl = DOWNLOAD_URL }: DownloadOptions,
): Promise<void> {
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: 3_000 }, bodyTimeout: 30_000 });
  const folder = `${destination}.unpacked`;
  try {
    const { archiveUrl, fileToExtract } = await releaseInfo(downloadUrl, dispatcher, signal);
    await mkdir(folder, { recursive: true });
    const archive = join(folder, archiveUrl.endsWith('.zip') ? 'archive.zip' : 'archive.tar.gz');
    await save(archiveUrl, archive, { dispatcher, onProgress, ...(signal && { signal }) });
    await unpack(archive, folder, fileToExtract, signal);
    await rename(join(folder, fileToExtract), destination);
  } catch (error) {
    throw explained(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await dispatcher.close();
  }
}

/** Response of the look-up. `fileToExtract` has to be a bare name, because a path could point outside of the folder. */
const ReleaseInfo = z.object({
  archiveUrl: z.url().regex(/\.(?:tar\.gz|zip)$/),
  fileToExtract: z.string().regex(/^[\w-]+(?:\.exe)?$/),
});

async function releaseInfo(
  downloadUrl: string,
  dispatcher: Dispatcher,
  signal: AbortSignal | undefined,
): Promise<z.infer<typeof ReleaseInfo>> {
  const query = new URLSearchParams({
    arch: process.arch === 'x64' ? 'amd64' : process.arch,
    platform: process.platform === 'win32' ? 'windows' : process.platform,
    format: 'tar.gz',
  });
  const response = await fetch(`${downloadUrl}/cli/v${CLI_VERSION}?${query.toString()}`, {
    dispatcher,
    signal: AbortSignal.any([AbortSignal.timeout(8_000), ...(signal ? [signal] : [])]),
  });
  const info = ReleaseInfo.parse(await (await successful(response)).json());
  // The download will be executed, so its address must be as secure as that of the look-up.
  if (new URL(info.archiveUrl).protocol !== new URL(downloadUrl).protocol) {
    throw new Error(`the archive's address is not secure: ${info.archiveUrl}`);
  }
  return info;
}

async function save(
  url: string,
  file: string,
  { dispatcher, onProgress, signal }: DownloadOptions & { dispatcher: Dispatcher },
): Promise<void> {
  const response = await successful(await fetch(url, { dispatcher, ...(signal ? { signal } : {}) }));
  if (response.body === null) throw new Error('the answer has no body');
  let bytes = 0;
  const total = Number(response.headers.get('content-length') ?? 0);
  const startedAt = Date.now();
  const report = (): void => {
    const size = total > 0 ? `${megabytes(bytes)} of ${megabytes(total)}` : megabytes(bytes);
    onProgress(`Downloading Temporal ${CLI_VERSION}: ${size} MB (${elapsed(startedAt)})`);
  };
  const reports = reportEvery(3_000, report);
  try {
    const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(file));
  } finally {
    reports.stop();
  }
}

/** Unpacks one file. The tar of Windows and macOS also reads zip archives. */
async function unpack(archive: string, folder: string, name: string, signal: AbortSignal | undefined): Promise<void> {
  await promisify(execFile)('tar', ['-xf', archive, '-C', folder, name], {
    ...(signal && { signal }),
  });
  if (!(await lstat(join(folder, name))).isFile()) throw new Error(`${name} is not a plain file`);
}

async function successful(response: Response): Promise<Response> {
  if (response.ok) return response;
  await response.body?.cancel();
  throw new Error(`${new URL(response.url).host} answered ${response.status}`);
}

/** Adds the cause to undici's "fetch failed". */
function explained(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? new Error(error.cause.message, { cause: error }) : error;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(0);
}
