import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Attempts that a provider failed, unlike `attempt`, which also counts those that a worker did not survive.
  await knex.raw('alter table steps add column provider_failures integer not null default 0');

  // A row only while the last runs of a model account have failed because of its provider. With a pause it is open.
  await knex.raw(`
    create table model_breakers (
      account text primary key,
      failures integer not null,
      failed_at timestamptz(3) not null,
      pause_from timestamptz(3),
      pause_until timestamptz(3),
      check ((pause_from is null) = (pause_until is null))
    );
  `);
}
