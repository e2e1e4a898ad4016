import type { Knex } from 'knex';

/**
 * Waits inside Postgres for the next commit: a look each 10 ms costs a process of Node.js a whole wake-up, and Postgres
 * a hundredth of it.
 *
 * Locks: none, as the function is new.
 */
export async function up(knex: Knex): Promise<void> {
  // Volatile, so that each turn has a snapshot of its own.
  await knex.raw(`
    create or replace function next_commit(seen text, patience_ms integer) returns text
    language plpgsql volatile as $$
      declare
        snapshot text;
        until timestamptz := clock_timestamp() + patience_ms * interval '1 millisecond';
      begin
        loop
          snapshot := pg_current_snapshot()::text;
          exit when snapshot is distinct from seen or clock_timestamp() >= until;
          perform pg_sleep(0.01);
        end loop;
        return snapshot;
      end
    $$
  `);
}
