import type { Knex } from 'knex';

/**
 * Names that programs give to routines and custom skills, and the programs that manage them. The name of an archived
 * routine or a deleted skill is free again. Skills count their changes for `If-Match`, as routines do.
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
  // Drop the invalid index that an interrupted build leaves.
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
