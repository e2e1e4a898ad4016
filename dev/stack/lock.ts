import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { errorCode } from './error-code.ts';
import { identify, isRunning } from './processes.ts';

/** Interval at which a holder renews its lock. A lock without a renewal for five intervals is abandoned. */
const RENEW_MS = 2_000;
const STALE_MS = 5 * RENEW_MS;

/**
 * Runs `work` while holding the lock file at `path`, one process at a time. The death of a holder is noticed at once on
 * the same machine; elsewhere (containers that share the folder) it is noticed when the lock is not renewed. Two
 * waiters that find the same abandoned lock at the same instant may both get in: use it to save work, not for safety.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, onWait: () => void = () => {}): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const token = JSON.stringify({
    id: randomUUID(),
    host: hostname(),
    holder: identify(process.pid),
  } satisfies z.infer<typeof Token>);
  for (let waited = false; !(await tryCreate(path, token)); waited = true) {
    if (!waited) onWait();
    await discardIfStale(path);
    await sleep(200);
  }
  const renewal = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    if ((await readFile(path, 'utf8').catch(() => '')) === token) await rm(path, { force: true });
  }
}

async function tryCreate(path: string, token: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(token);
    await file.close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

const Token = z.object({
  id: z.string(),
  host: z.string(),
  holder: z.object({ pid: z.int(), startedAt: z.string() }).optional(),
});

async function discardIfStale(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  if (Date.now() - found.mtimeMs < STALE_MS && !(await isHolderDead(path))) return;
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}

async function isHolderDead(path: string): Promise<boolean> {
  try {
    const { host, holder } = Token.parse(JSON.parse(await readFile(path, 'utf8')));
    return host === hostname() && holder !== undefined && !isRunning(holder);
  } catch {
    // Count the holder as alive: another process is writing the lock, or has just released it.
    return false;
  }
}
