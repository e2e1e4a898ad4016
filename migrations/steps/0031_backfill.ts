import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A backfill looks up whether somebody has repeated a skipped occurrence by hand. Few runs are such repetitions.
  await knex.raw(`
    create index runs_repeated_idx on runs (routine_id, stands_for) where trigger = 'manual' and stands_for is not null;
  `);
}
