import type { Knex } from 'knex';

/**
 * The finish reason of a response that did not count, for the step to show. `finish_reason` stays that of the response
 * that was recorded.
 *
 * Locks: access exclusive on steps, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table steps add column failed_finish_reason text');
}
