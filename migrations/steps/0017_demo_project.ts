import type { Knex } from 'knex';

/**
 * Marks the project that a local start fills with made-up runs, so that the dashboard can say so and offer to remove it.
 *
 * Locks: access exclusive on projects, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table projects add column is_demo boolean not null default false');
}
