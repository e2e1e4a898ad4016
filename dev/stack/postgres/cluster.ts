import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Log } from '../child.ts';
import type { Account } from './account.ts';
import type { PostgresBinaries } from './binaries.ts';

export interface ClusterOptions {
  dataDir: string;
  clusterDir: string;
  binaries: PostgresBinaries;
  account: Account;
  log: Log;
}

/** Creates the cluster when there is none; returns the superuser's password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, clusterDir, binaries } = options;
  const passwordFile = join(dataDir, 'password');
  const existing = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  const password = await readFile(passwordFile, 'utf8').catch(() => undefined);
  if (existing === undefined) {
    const fresh = randomBytes(24).toString('base64url');
    await writeFile(passwordFile, fresh, { mode: 0o600 });
    await initialize(options, fresh);
    return fresh;
  }
  const major = await majorVersion(binaries.postgres);
  if (Number(existing) !== major) {
    throw new Error(
      `The data in ${clusterDir} is of Postgres ${existing.trim()}, and this is Postgres ${major}. Move the folder away, or set DATABASE_URL to a server that can read it.`,
    );
  }
  if (password === undefined) {
    throw new Error(
      `The password of the data in ${clusterDir} cannot be read (${passwordFile}). Start as the user who created it, or move the folder away to start with an empty one.`,
    );
  }
  return password;
}

/**
 * Creates the cluster in another folder and moves it into place whole, so that an interrupted start leaves no half
 * cluster.
 */
async function initialize(
  { dataDir, clusterDir, binaries, account, log }: ClusterOptions,
  password: string,
): Promise<void> {
  log('Creating the Postgres database');
  const half = `${clusterDir}.new`;
  const passwordForInit = join(dataDir, 'password.new');
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { mode: 0o700 });
  await writeFile(passwordForInit, password, { mode: 0o600 });
  await Promise.all([account.own(half), account.own(passwordForInit)]);
  const { command, args, ...ids } = account.command(binaries.initdb, [
    `--pgdata=${half}`,
    '--username=postgres',
    `--pwfile=${passwordForInit}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Choose a locale that sorts texts in the same order on every machine.
    ...((await majorVersion(binaries.postgres)) < 17
      ? ['--locale=C.UTF-8']
      : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']),
    '--no-instructions',
  ]);
  try {
    await promisify(execFile)(command, args, { ...ids, env: { ...process.env, LC_ALL: 'C' } });
    await rename(half, clusterDir);
  } catch (error) {
    // Quote the message, which contains what the failed command wrote to standard error.
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The Postgres database could not be created: ${why}`, { cause: error });
  } finally {
    await rm(passwordForInit, { force: true });
  }
}

async function majorVersion(postgres: string): Promise<number> {
  const { stdout } = await promisify(execFile)(postgres, ['-V']);
  return Number(/\) (\d+)/.exec(stdout)?.[1]);
}
