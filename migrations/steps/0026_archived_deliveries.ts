import type { Knex } from 'knex';

/**
 * The reason for which deliveries of an archived routine are given up.
 *
 * Locks: access exclusive on webhook_deliveries, for an instant; the check reads the table without blocking others.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_deliveries drop constraint webhook_deliveries_reason_check,
      add constraint webhook_deliveries_reason_check
        check (reason in ('gone', 'retries_exhausted', 'webhook_removed', 'routine_archived')) not valid
  `);
  await knex.raw('alter table webhook_deliveries validate constraint webhook_deliveries_reason_check');
}
