import type { Knex } from 'knex';

/**
 * The time at which a routine or skill that is managed from files was changed by other means.
 *
 * Locks: access exclusive on routines and skills, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table routines add column drifted_at timestamptz');
  await knex.raw('alter table skills add column drifted_at timestamptz');
}
