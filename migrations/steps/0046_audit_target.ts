import type { Knex } from 'knex';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // A target that nothing happened to is the one filter that commonly finds nothing, and read all events to say so.
  await knex.raw('drop index concurrently if exists audit_events_target_idx');
  await knex.raw(`
    create index concurrently audit_events_target_idx on audit_events (organization_id, target_id, id desc)
  `);
}
