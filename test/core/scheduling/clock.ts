import pg from 'pg';

export interface DatabaseClock {
  /** Sets the database's `now()` to this instant. The clock runs on from there. */
  set(instant: Date): Promise<void>;
  /** Sets the clock forward, or back by a negative number. */
  shift(ms: number): Promise<void>;
}

/**
 * Gives the database a clock that a test can set. The product asks Postgres for the time, and Postgres finds this
 * `now()` in a schema before `pg_catalog`. Call it before the database's pool opens a connection.
 */
export async function installClock(databaseUrl: string): Promise<DatabaseClock> {
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const name = new URL(databaseUrl).pathname.slice(1);
  await run(`
    create schema clock;
    create table clock.shift (by interval not null);
    insert into clock.shift values ('0');
    create function clock.now() returns timestamptz language sql stable as
      'select pg_catalog.now() + (select by from clock.shift)';
    alter database ${name} set search_path = clock, pg_catalog, public;
  `);
  // A pooler keeps connections without the new default, so end all of them. This connection ends too, with an error.
  const last = new pg.Client({ connectionString: databaseUrl });
  last.on('error', () => undefined);
  await last.connect();
  await last
    .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()')
    .catch(() => undefined);
  await last.end();
  return {
    set: (instant) => run(`update clock.shift set by = '${instant.toISOString()}' - pg_catalog.now()`),
    shift: (ms) => run(`update clock.shift set by = by + interval '${ms} milliseconds'`),
  };
}
