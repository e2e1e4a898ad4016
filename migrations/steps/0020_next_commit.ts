import type { Knex } from 'knex';

/**
 * Waits inside Postgres for the next commit. A check every 10 ms there costs a hundredth of one in a Node.js process,
 * which would have to wake up for it.
 *
 * Locks: none, as the function is new.
 */
export async function up(knex: Knex): Promise<void> {
  // A volatile function has a new snapshot in each turn of the loop.
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
