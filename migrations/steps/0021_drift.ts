import type { Knex } from 'knex';

/**
 * When a routine or a skill that files keep was changed otherwise.
 *
 * Locks: access exclusive on routines and skills, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table routines add column drifted_at timestamptz');
  await knex.raw('alter table skills add column drifted_at timestamptz');
}
