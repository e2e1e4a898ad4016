import type { Knex } from 'knex';

/**
 * Links that show one result to everyone who has them. A project allows links since `shared_links_since`; older links
 * have ended.
 *
 * Locks: access exclusive on projects, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table projects add column shared_links_since timestamptz(3);
    create table shared_links (
      id text primary key,
      project_id text not null references projects (id),
      run_id text not null,
      token_hash bytea not null unique,
      created_by text,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      views integer not null default 0,
      last_seen_at timestamptz(3)
    );
    create index shared_links_run_idx on shared_links (run_id);
  `);
}
