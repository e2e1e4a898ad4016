import type { Knex } from 'knex';

/**
 * When a routine that files keep was changed otherwise.
 *
 * Locks: access exclusive on routines, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table routines add column drifted_at timestamptz');
}
