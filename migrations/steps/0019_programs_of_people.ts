import type { Knex } from 'knex';

/**
 * Programs that act for a person in a project: terminals that wait for a person's consent.
 *
 * Locks: the table is new. Its foreign keys hold off the writers of users and projects for as long as it takes to add them
 * to an empty table.
 */
export async function up(knex: Knex): Promise<void> {
  // Both codes are kept as SHA-256 hashes. A row goes when its key is made, or an hour after its time.
  await knex.raw(`
    create table terminal_sign_ins (
      device_hash bytea primary key,
      user_code_hash bytea not null unique,
      host text not null,
      address text not null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      polled_at timestamptz(3),
      state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
      decided_by text references users (id) on delete cascade,
      decided_from text,
      project_id text references projects (id),
      scopes text[],
      check (state <> 'approved' or
        (decided_by is not null and decided_from is not null and project_id is not null and scopes is not null))
    );
    create index terminal_sign_ins_expiry_idx on terminal_sign_ins (expires_at);
    create index terminal_sign_ins_person_idx on terminal_sign_ins (decided_by) where decided_by is not null;
    create index terminal_sign_ins_project_idx on terminal_sign_ins (project_id) where project_id is not null;
  `);
}
