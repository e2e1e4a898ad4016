import type { Knex } from 'knex';

/**
 * The instant before which a routine skips its occurrences, as one of its runs has decided.
 *
 * Locks: access exclusive on routines, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table routines add column not_before timestamptz(3)');
}
