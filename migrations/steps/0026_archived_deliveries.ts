import type { Knex } from 'knex';

/**
 * Deliveries of a routine that is archived are given up for a reason of their own.
 *
 * Locks: access exclusive on webhook_deliveries, for an instant; the check reads it without keeping others waiting.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_deliveries drop constraint webhook_deliveries_reason_check,
      add constraint webhook_deliveries_reason_check
        check (reason in ('gone', 'retries_exhausted', 'webhook_removed', 'routine_archived')) not valid
  `);
  await knex.raw('alter table webhook_deliveries validate constraint webhook_deliveries_reason_check');
}
