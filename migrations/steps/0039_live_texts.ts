import type { Knex } from 'knex';

/**
 * The text of model steps under way, in pieces, for runs that are followed; and which run each event stream follows.
 * Unlogged, as after a crash the streams are gone, and the step has its whole text once it is over.
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
