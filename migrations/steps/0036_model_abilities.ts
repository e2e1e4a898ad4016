import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // What a server has refused or shown in a test. It is about servers of the operator, so no tenant owns a row.
  await knex.raw(`
    create table model_abilities (
      source text not null,
      model_id text not null,
      abilities jsonb not null,
      learned_at timestamptz(3) not null default now(),
      primary key (source, model_id)
    )
  `);
  // Faults of a response that did not end the run: a prompt that the server cut, a call that was written as text.
  await knex.raw('alter table steps add column warnings jsonb');
}
