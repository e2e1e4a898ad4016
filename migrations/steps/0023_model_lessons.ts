import type { Knex } from 'knex';

/**
 * What refused requests have shown of models, an ability a row, by the organization whose requests they were. What
 * `model_abilities` holds was learned from refusals alone and for all organizations, so none of it is taken over; the
 * release before goes on using that table.
 *
 * Locks: share row exclusive on organizations, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table model_lessons (
      organization_id text not null references organizations (id),
      source text not null,
      model_id text not null,
      ability text not null,
      value jsonb not null,
      learned_at timestamptz(3) not null default now(),
      primary key (organization_id, source, model_id, ability)
    );
    create index model_lessons_learned_at on model_lessons (learned_at);
  `);
}
