import type { Knex } from 'knex';

/**
 * The text of running model steps, in pieces, for runs with followers; and the run that each event stream follows. The
 * table is unlogged, because a crash ends the streams, and a step that has ended has its whole text.
 *
 * Locks: access exclusive on run_followers, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unlogged table live_texts (
      run_id text not null,
      step integer not null,
      attempt integer not null,
      piece integer not null,
      project_id text not null,
      -- The text begins with this piece, in place of all before it.
      begins boolean not null,
      text text not null,
      written_at timestamptz(3) not null default now(),
      primary key (run_id, step, attempt, piece)
    );
    create index live_texts_written_idx on live_texts (written_at);
    alter table run_followers add column run_id text;
    create index run_followers_run_idx on run_followers (run_id) where run_id is not null;
  `);
}
