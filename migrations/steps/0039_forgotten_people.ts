import type { Knex } from 'knex';

/** For housekeeping, which reads the oldest of each minute by minute. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index users_unconfirmed_idx on users (created_at) where not email_verified;
    create index business_leads_created_idx on business_leads (created_at);
  `);
}
