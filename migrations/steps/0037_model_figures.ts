import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Window, output limit and prices that an organization enters for a model of which no list knows them. They are few,
  // and are read together.
  await knex.raw(`
    create table model_figures (
      organization_id text not null references organizations (id),
      source text not null,
      model_id text not null,
      figures jsonb not null,
      updated_at timestamptz(3) not null default now(),
      primary key (organization_id, source, model_id)
    )
  `);
  // Names of the operator's sources that have stood before ids of models, also of sources that are gone.
  await knex.raw('create table model_source_names (name text primary key)');
}
