import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import {
  appliedMigrations,
  madeBeforeFirstRelease,
  MIGRATION_STEPS,
  migrationFiles,
  migrationName,
  withStatements,
} from '#lib/database/index.ts';

/**
 * Applies all missing migrations in order, each in a transaction unless its `config` says otherwise. A session advisory
 * lock lets any number of processes start at once. Only the process with this lock migrates, so a lock that a killed
 * process left in knex's own table is stale and is freed.
 *
 * A statement that waits for a table blocks all later statements on the table, even reads, while a dump or a report
 * uses it. A step in a transaction therefore waits for two seconds at most, and is repeated after a pause for the
 * others.
 * @param folder folder of the migrations, with a slash at its end
 * @param waits called with a message whenever a step gave up waiting
 * @returns the names of the migrations that this call applied
 * @throws {FormerData} when the database was made before the first release
 */
export async function migrate(
  databaseUrl: string,
  folder = MIGRATION_STEPS,
  waits: (message: string) => void = () => undefined,
): Promise<string[]> {
  const guard = withStatements(new pg.Client({ connectionString: databaseUrl, application_name: 'ras-migrate' }));
  await guard.connect();
  try {
    await lock(guard);
    const former = await madeBeforeFirstRelease(guard);
    if (former !== undefined) throw new FormerData(former);
    const knex = knexFactory({
      client: 'pg',
      connection: databaseUrl,
      pool: { min: 0, max: 2 },
      migrations: {
        tableName: 'migrations',
        migrationSource: sourceOf(folder),
        // After a release was taken back, the database has steps of the later release, which this release does not
        // know.
        disableMigrationsListValidation: true,
      },
    });
    try {
      if (await knex.schema.hasTable('migrations_lock')) await knex.migrate.forceFreeMigrationsLock();
      const before = new Set(await appliedMigrations(guard));
      while (!(await applied(knex))) {
        waits(
          `another session holds a table that a migration changes; trying again in ${LOCK_PAUSE_MS / 1_000} seconds`,
        );
        await setTimeout(LOCK_PAUSE_MS);
      }
      return (await appliedMigrations(guard)).filter((name) => !before.has(name));
    } finally {
      await knex.destroy();
    }
  } finally {
    await guard.end();
  }
}

/** Applies the missing migrations. @returns false when a step gave up waiting for the lock of another session */
async function applied(knex: Knex): Promise<boolean> {
  try {
    await knex.migrate.latest();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_PAUSE_MS = 3_000;

/**
 * Polls for the lock. A statement that waits inside Postgres keeps its snapshot, and the owner of the lock may be
 * building an index concurrently, which waits for all older snapshots: both would wait for ever.
 */
async function lock(guard: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await guard.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [ADVISORY_LOCK]);
    if (rows[0]?.held === true) return;
    await setTimeout(LOCK_POLL_MS);
  }
}

const LOCK_POLL_MS = 200;

/** Error for a database that was made before the first release. Its message is for an operator. */
export class FormerData extends Error {}

/** An arbitrary number that nothing else in this database uses for a lock. */
const ADVISORY_LOCK = 7_205_511;

/** Names migrations by their files without the extension, which knex's own loader would keep in the name. */
function sourceOf(folder: string): Knex.MigrationSource<string> {
  return {
    getMigrations: () => migrationFiles(folder),
    getMigrationName: migrationName,
    async getMigration(file) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each step exports `up`
      const step = (await import(pathToFileURL(folder + file).href)) as {
        up(knex: Knex): Promise<void>;
        config?: { transaction: boolean };
      };
      return {
        async up(knex) {
          // A step without a transaction may build an index concurrently. It blocks no other statement, and may wait
          // long.
          if (step.config?.transaction !== false) await knex.raw("set local lock_timeout = '2s'");
          await step.up(knex);
        },
        down: () => Promise.reject(new Error('forward only')),
        ...(step.config && { config: step.config }),
      };
    },
  };
}
