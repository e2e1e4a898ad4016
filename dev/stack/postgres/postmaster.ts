import { readlinkSync } from 'node:fs';
import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Log } from '../child.ts';
import { commandLine, identify, stopProcess } from '../processes.ts';

/**
 * Stops a server of this cluster that a killed start left behind, and removes the lock file of an ended one: Postgres
 * would refuse to start if another program now has its pid.
 */
export async function stopOldPostmaster(clusterDir: string, log: Log): Promise<void> {
  const pid = Number((await readLockFile(clusterDir))[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const identity = identify(pid);
  if (identity !== undefined && (await servesCluster(pid, clusterDir))) {
    log(`Stopping the Postgres server that an earlier start left (process ${pid})`);
    await stopProcess(identity, { signal: 'SIGINT', graceMs: 15_000 });
  }
  // On Windows, where processes cannot be told apart, Postgres itself checks the file.
  if (process.platform !== 'win32') await rm(lockFile(clusterDir), { force: true });
}

/**
 * Returns true when the server with this pid accepts connections, according to its own lock file. A connection to the
 * port could reach another program's server.
 */
export async function isReady(clusterDir: string, pid: number): Promise<boolean> {
  const lines = await readLockFile(clusterDir);
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

function lockFile(clusterDir: string): string {
  return join(clusterDir, 'postmaster.pid');
}

/**
 * Reads the lock file, whose lines are: pid, data folder, start time, port, socket folder, address, shared memory,
 * status (miscadmin.h).
 */
async function readLockFile(clusterDir: string): Promise<string[]> {
  return (await readFile(lockFile(clusterDir), 'utf8').catch(() => '')).split('\n');
}

/**
 * Returns true for a Postgres server of this folder: known on Linux by its working directory, elsewhere by its command
 * line.
 */
async function servesCluster(pid: number, clusterDir: string): Promise<boolean> {
  const folder = await realpath(clusterDir);
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder && isPostgres(pid);
    } catch {
      return false;
    }
  }
  return isPostgres(pid) && (commandLine(pid) ?? '').includes(`-D ${clusterDir}`);
}

function isPostgres(pid: number): boolean {
  return /postgres(?:\.exe)?\b/.test(commandLine(pid) ?? '');
}
