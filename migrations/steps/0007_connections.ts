import type { Knex } from 'knex';

/** Tool servers and managed providers, the sign-ins to them, and what a routine may call of them. */
export async function up(knex: Knex): Promise<void> {
  // A connection is deleted for good, its policies with it; steps of runs name its id only as text.
  await knex.raw(`
    create table connections (
      id text primary key,
      project_id text not null references projects (id),
      kind text not null check (kind in ('tool_server', 'managed')),
      provider text,
      name text not null,
      -- People put keys into the query of an address: url keeps only its names, and url_query the query itself, sealed.
      url text,
      url_query text,
      auth text not null check (auth in ('none', 'bearer', 'headers', 'oauth', 'api_key')),
      credentials text,
      credentials_expire_at timestamptz(3),
      -- The holder of the lease renews the tokens, and the version tells the others when it is done. Both are columns, so
      -- that no transaction is open during the call to the provider.
      credentials_version integer not null default 1,
      renewal_lease text,
      renewal_leased_until timestamptz(3),
      account_label text,
      scopes text[] not null default '{}',
      -- Scopes that the server demanded beyond those granted (RFC 6750, section 3.1); later sign-ins ask for them too.
      demanded_scopes text[] not null default '{}',
      server jsonb,
      state text not null check (state in ('pending_authorization', 'ready', 'needs_reauthorization')),
      public_error text,
      created_by text references users (id) on delete set null,
      -- The person who signed in last: created_by stays what it was when another one signs in again.
      signed_in_by text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      checked_at timestamptz(3),
      check ((kind = 'managed') = (provider is not null))
    );
    create index connections_project_idx on connections (project_id, id desc);
  `);

  // Sign-ins under way. Only the browser has the state itself; sealed holds the PKCE verifier, and session_id the id of
  // the session that began it, never its token.
  await knex.raw(`
    create table oauth_flows (
      state_hash bytea primary key,
      project_id text not null references projects (id),
      user_id text not null references users (id) on delete cascade,
      session_id text not null,
      provider text not null,
      connection_id text references connections (id) on delete cascade,
      name text,
      sealed text not null,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now()
    );
    create index oauth_flows_expiry_idx on oauth_flows (expires_at);
    create index oauth_flows_connection_idx on oauth_flows (connection_id);
  `);

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
      -- The hash of the definition that the server sent last, and of the one that a person agreed to, which is kept: a
      -- person who is asked again sees what has changed since.
      definition_hash text not null,
      confirmed_hash text,
      confirmed_definition jsonb,
      confirmed_by text,
      confirmed_at timestamptz(3),
      state text not null default 'disabled' check (state in ('disabled', 'automatic')),
      vanished_at timestamptz(3),
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
