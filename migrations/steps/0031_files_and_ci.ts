import type { Knex } from 'knex';

/**
 * The folder of files from which a routine or a skill is managed, the author of the last change by other means, and the
 * CI systems whose jobs get short-lived API keys.
 *
 * Locks: access exclusive on routines, skills and api_keys, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table routines add column managed_from text, add column drifted_by text;
    alter table skills add column managed_from text, add column drifted_by text;
    create table ci_trusts (
      id text primary key,
      project_id text not null references projects (id) on delete cascade,
      name text not null,
      issuer text not null,
      audience text not null,
      subject_pattern text not null,
      scopes text[] not null,
      created_by text references users (id) on delete cascade,
      created_at timestamptz not null default now()
    );
    create index on ci_trusts (project_id, id);
    create index on ci_trusts (created_by);
    -- With a CI sign-in go the keys of its jobs.
    alter table api_keys add column ci_trust_id text references ci_trusts (id) on delete cascade;
    create index on api_keys (ci_trust_id) where ci_trust_id is not null;
  `);
}
