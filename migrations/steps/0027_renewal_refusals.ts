import type { Knex } from 'knex';

/**
 * How servers have refused to renew a credential, and for how long it was issued; both count for the version of the
 * credential that they were written with. Warnings say of a run that has succeeded what it lacked.
 *
 * Locks: access exclusive on connections, model_connections and runs, one after the other, each for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table connections add column renewal_refusals jsonb, add column credentials_life_seconds integer
  `);
  await knex.raw(`
    alter table model_connections add column renewal_refusals jsonb, add column credential_life_seconds integer
  `);
  await knex.raw(`alter table runs add column warnings text[] not null default '{}'`);
}
