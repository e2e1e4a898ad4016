import { execFile } from 'node:child_process';
import { chmod, lchown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Account that runs Postgres, because Postgres refuses to run as root. */
export interface Account {
  /** Returns the command line and credentials that run an executable under this account. */
  command(executable: string, args: readonly string[]): AccountCommand;
  /** Makes the account the owner of a file or folder. */
  own(path: string): Promise<void>;
}

export interface AccountCommand {
  command: string;
  args: readonly string[];
  uid?: number;
  gid?: number;
}

export interface AccountOptions {
  dataDir: string;
  clusterDir: string;
  executable: string;
}

/**
 * Returns our own account, unless we are root: then the owner of an existing cluster, else the system's `postgres`
 * user, else `nobody`. Creates no user.
 */
export async function runAs({ dataDir, clusterDir, executable }: AccountOptions): Promise<Account> {
  if (process.getuid?.() !== 0) {
    return { command: (command, args) => ({ command, args }), own: async () => {} };
  }
  const ids = (await ownerOf(clusterDir)) ?? (await systemUser());
  const own = (path: string): Promise<void> => lchown(path, ids.uid, ids.gid);
  await chmod(dataDir, 0o755);
  if ((await isOpenTo(dataDir)) && (await isOpenTo(executable))) {
    return { command: (command, args) => ({ command, args, ...ids }), own };
  }
  return { command: await privateFolderCommand(ids), own };
}

interface Ids {
  uid: number;
  gid: number;
}

async function ownerOf(clusterDir: string): Promise<Ids | undefined> {
  const found = await stat(clusterDir).catch(() => undefined);
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

async function systemUser(): Promise<Ids> {
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {}
  }
  throw new Error(
    'Postgres refuses to run as root, and this system has no user "postgres" or "nobody" to run it as. Start as another user, or set DATABASE_URL.',
  );
}

/** Returns true when other users may pass through every folder of the path. */
async function isOpenTo(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * Returns the command line for a folder below root's home, which is usually closed to others. It does not open that
 * home: the account keeps only root's capability to pass (CAP_DAC_OVERRIDE, which containers have too). The secure bit
 * keeps that capability effective in access(2).
 */
async function privateFolderCommand({ uid, gid }: Ids): Promise<Account['command']> {
  const privileges = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
    '--securebits=+no_setuid_fixup',
  ];
  try {
    await run('setpriv', [...privileges, 'true']);
  } catch (error) {
    throw new Error(
      'Postgres refuses to run as root, and the user it runs as instead cannot reach this folder. Move the project out of the private folder it is in, start as another user, or set DATABASE_URL.',
      { cause: error },
    );
  }
  return (command, args) => ({ command: 'setpriv', args: [...privileges, command, ...args] });
}
