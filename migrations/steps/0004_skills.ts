import type { Knex } from 'knex';

/** Skills that people write. The curated ones are files. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table skills (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      description text,
      instructions text not null,
      revision integer not null default 1,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3)
    );
    create index skills_project_idx on skills (project_id, id desc) where deleted_at is null;
    create index skills_deleted_idx on skills (deleted_at) where deleted_at is not null;

    -- The text of each revision, the newest among them.
    create table skill_revisions (
      skill_id text not null references skills (id) on delete cascade,
      revision integer not null,
      project_id text not null references projects (id),
      name text not null,
      instructions text not null,
      created_by text,
      created_at timestamptz(3) not null default now(),
      primary key (skill_id, revision)
    );
  `);
}
