import type { Knex } from 'knex';

/**
 * The abilities of models that refused requests have shown, one in a row, by the organization of the requests. Nothing
 * is copied from `model_abilities`, which was learned from refusals only, for all organizations together. The previous
 * release continues to use that table.
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
