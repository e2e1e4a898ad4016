import type { Knex } from 'knex';

/**
 * Names that programs give to routines and custom skills, and who keeps them. One that is archived or deleted gives its
 * name back. A skill counts its changes, as a routine does, for `If-Match`.
 *
 * Locks: access exclusive on routines and skills, for an instant. The indexes are built beside all writers.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table routines
      add column if not exists external_key text,
      add column if not exists managed_by text;
    alter table skills
      add column if not exists external_key text,
      add column if not exists managed_by text,
      add column if not exists version integer not null default 1;
  `);
  // One that was cut off is left invalid.
  await knex.raw('drop index concurrently if exists routines_external_key_idx');
  await knex.raw(`
    create unique index concurrently routines_external_key_idx on routines (project_id, external_key)
      where external_key is not null and state <> 'archived'
  `);
  await knex.raw('drop index concurrently if exists skills_external_key_idx');
  await knex.raw(`
    create unique index concurrently skills_external_key_idx on skills (project_id, external_key)
      where external_key is not null and deleted_at is null
  `);
}
