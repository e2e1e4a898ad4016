import type { Knex } from 'knex';

/**
 * The facts of a project, which its routines receive. A run stores the version of the facts that it got; a version of a
 * routine stores the version that it was proven with, and the version that its scheduled runs get.
 *
 * Locks: the table is new, and its foreign key blocks writers of projects while it is added. The columns have no
 * default: access exclusive on runs and routine_versions, for an instant each.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The newest version is what holds.
    create table project_facts (
      project_id text not null references projects (id),
      version integer not null,
      text text not null,
      -- Its first lines that differ from the version before, and their counts.
      changes jsonb not null,
      created_by text,
      created_at timestamptz(3) not null default now(),
      primary key (project_id, version)
    );
  `);
  // Null for runs without facts, and for routine versions that were proven without facts.
  await knex.raw(`
    alter table runs add column facts_version integer;
    alter table routine_versions add column proof_facts integer, add column active_facts integer;
  `);
}
