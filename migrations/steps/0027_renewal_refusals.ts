import type { Knex } from 'knex';

/**
 * The refusals of servers to renew a credential, and the seconds for which it was issued; both belong to one version of
 * the credential. Warnings name what a successful run lacked.
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
