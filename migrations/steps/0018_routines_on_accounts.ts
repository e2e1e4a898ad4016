import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Found when an account is taken away, and each minute while a provider is disabled; the gateway's are not in them.
  await knex.raw(`
    create index routines_active_account_idx on routines (model_connection_id)
      where state = 'active' and model_connection_id is not null;
    create index routines_active_provider_idx on routines (model_provider)
      where state = 'active' and model_provider <> 'gateway';
  `);
}
