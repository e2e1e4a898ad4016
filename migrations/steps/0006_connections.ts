import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A connection is deleted for good, its policies with it; steps of runs name its id only as text.
  await knex.raw(`
    create table connections (
      id text primary key,
      project_id text not null references projects (id),
      kind text not null check (kind in ('tool_server', 'managed')),
      provider text,
      name text not null,
      url text,
      auth text not null check (auth in ('none', 'bearer', 'headers', 'oauth', 'api_key')),
      credentials text,
      credentials_expire_at timestamptz(3),
      account_label text,
      scopes text[] not null default '{}',
      server jsonb,
      state text not null check (state in ('pending_authorization', 'ready', 'needs_reauthorization')),
      public_error text,
      created_by text references users (id) on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      checked_at timestamptz(3),
      check ((kind = 'managed') = (provider is not null))
    );
    create index connections_project_idx on connections (project_id, id desc);
  `);

  // definition_hash is the hash of the definition that the server sent last, confirmed_hash of the one that a person
  // agreed to.
  await knex.raw(`
    create table tool_policies (
      id text primary key,
      project_id text not null references projects (id),
      routine_id text not null references routines (id),
      connection_id text not null references connections (id) on delete cascade,
      tool_name text not null,
      title text,
      description text,
      input_schema jsonb not null,
      output_schema jsonb,
      annotations jsonb,
      definition_hash text not null,
      confirmed_hash text,
      state text not null default 'disabled' check (state in ('disabled', 'automatic')),
      vanished_at timestamptz(3),
      confirmed_by text,
      confirmed_at timestamptz(3),
      max_calls_per_run integer,
      argument_schema jsonb,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (routine_id, connection_id, tool_name),
      check (state <> 'automatic' or (confirmed_hash is not null and confirmed_at is not null))
    );
    create index tool_policies_connection_idx on tool_policies (connection_id);
  `);
}
