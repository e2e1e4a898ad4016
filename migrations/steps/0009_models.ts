import type { Knex } from 'knex';

/** Facts about models and their servers beyond what the servers list. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a server has refused or shown in a test. It is about servers of the operator, so no tenant owns a row.
    create table model_abilities (
      source text not null,
      model_id text not null,
      abilities jsonb not null,
      learned_at timestamptz(3) not null default now(),
      primary key (source, model_id)
    );

    -- Window, output limit and prices that an organization enters for a model of which no list knows them. They are few,
    -- and are read together.
    create table model_figures (
      organization_id text not null references organizations (id),
      source text not null,
      model_id text not null,
      figures jsonb not null,
      updated_at timestamptz(3) not null default now(),
      primary key (organization_id, source, model_id)
    );

    -- Names of the operator's sources that have stood before ids of models, also of sources that are gone.
    create table model_source_names (name text primary key);

    -- A row only while the last runs of a model account have failed because of its provider. With a pause it is open.
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
