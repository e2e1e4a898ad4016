import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Db } from './database.ts';

/** The folder of the migrations that come with this release. */
export const MIGRATION_STEPS = fileURLToPath(new URL('../../migrations/steps/', import.meta.url));

/** Lists the files of the migrations, in their order. */
export async function migrationFiles(folder = MIGRATION_STEPS): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => file.endsWith('.ts')).toSorted();
}

/** Returns the name under which a migration is recorded. */
export function migrationName(file: string): string {
  return file.replace(/\.ts$/, '');
}

/**
 * Lists the migrations of this release that the database lacks. The database may have later migrations, because this
 * release also runs on the schema of the next release.
 */
export async function missingMigrations(db: Db): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  return (await migrationFiles()).map(migrationName).filter((name) => !applied.has(name));
}

/**
 * Returns a message if the database was made before the first release, 0.1.0, with other migrations; undefined
 * otherwise.
 */
export async function madeBeforeFirstRelease(db: Db): Promise<string | undefined> {
  const applied = await appliedMigrations(db);
  const [first = ''] = await migrationFiles();
  if (applied.length === 0 || applied.includes(migrationName(first))) return undefined;
  return 'The data in this database was made before 0.1.0, the first release, and cannot be migrated.';
}

/** Lists the migrations that the database has, in the order in which they were made. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  try {
    const found = await db.rows<{ name: string }>`select name from migrations order by id`;
    return found.map(({ name }) => name);
  } catch (error) {
    const isEmpty = error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE;
    if (isEmpty) return [];
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

/** Explains to an operator which migrations are missing, and the remedy. */
export function schemaTooOld(missing: readonly string[]): string {
  const [first] = missing;
  const which = missing.length === 1 ? first : `${missing.length} migrations from ${first} on`;
  return `the database schema is older than this release needs: ${which} missing, run node migrations/run.ts`;
}
