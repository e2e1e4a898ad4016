import type { Knex } from 'knex';

/**
 * The finish reason of a failed response, which the step shows. `finish_reason` remains the reason of the recorded
 * response.
 *
 * Locks: access exclusive on steps, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table steps add column failed_finish_reason text');
}
