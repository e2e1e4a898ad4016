import type { Knex } from 'knex';

/**
 * Programs that act for a person in a project: terminals that wait for a person's consent, and assistants that a person
 * has connected by OAuth.
 *
 * Locks: the tables are new. Their foreign keys block writers of users, sessions and projects while they are added to
 * empty tables.
 */
export async function up(knex: Knex): Promise<void> {
  // Both codes are stored as SHA-256 hashes. A row is deleted when its key is made, or an hour after it expires.
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

  // These five tables are the library's, under our names; a test compares them with the tables that the library
  // expects. The columns is_dynamic and last_used_at are ours. Tokens are hashed. reference_id is the project, because
  // a consent is for one project.
  await knex.raw(`
    create table oauth_clients (
      id text primary key,
      client_id text not null unique,
      client_secret text,
      client_discovery_id text,
      disabled boolean default false,
      skip_consent boolean,
      enable_end_session boolean,
      subject_type text,
      scopes jsonb,
      client_credentials_scopes jsonb,
      user_id text references users (id) on delete cascade,
      created_at timestamptz(3) default now(),
      updated_at timestamptz(3) default now(),
      name text,
      uri text,
      icon text,
      contacts jsonb,
      tos text,
      policy text,
      software_id text,
      software_version text,
      software_statement text,
      redirect_uris jsonb not null,
      post_logout_redirect_uris jsonb,
      backchannel_logout_uri text,
      backchannel_logout_session_required boolean,
      token_endpoint_auth_method text,
      application_type text,
      jwks text,
      jwks_uri text,
      grant_types jsonb,
      response_types jsonb,
      require_pkce boolean,
      dpop_bound_access_tokens boolean default false,
      reference_id text,
      metadata jsonb,
      -- The client registered itself, so nothing that it says of itself is known to be true.
      is_dynamic boolean not null default true
    );
    create index oauth_clients_user_idx on oauth_clients (user_id) where user_id is not null;
    create index oauth_clients_dynamic_idx on oauth_clients (created_at) where is_dynamic;

    create table oauth_resources (
      id text primary key,
      identifier text not null unique,
      name text not null,
      access_token_ttl integer,
      refresh_token_ttl integer,
      signing_algorithm text,
      signing_key_id text,
      allowed_scopes jsonb,
      custom_claims jsonb,
      dpop_bound_access_tokens_required boolean default false,
      disabled boolean default false,
      created_at timestamptz(3) default now(),
      updated_at timestamptz(3) default now(),
      policy_version integer default 1,
      metadata jsonb
    );

    create table oauth_consents (
      id text primary key,
      client_id text not null references oauth_clients (client_id) on delete cascade,
      user_id text not null references users (id) on delete cascade,
      reference_id text not null references projects (id),
      resources jsonb,
      requested_user_info_claims jsonb,
      scopes jsonb not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      unique (reference_id, user_id, client_id)
    );
    create index oauth_consents_user_idx on oauth_consents (user_id);
    create index oauth_consents_client_idx on oauth_consents (client_id);

    create table oauth_refresh_tokens (
      id text primary key,
      token text not null unique,
      client_id text not null references oauth_clients (client_id) on delete cascade,
      session_id text references sessions (id) on delete set null,
      user_id text not null references users (id) on delete cascade,
      reference_id text not null references projects (id),
      authorization_code_id text,
      resources jsonb,
      requested_user_info_claims jsonb,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      revoked timestamptz(3),
      rotated_at timestamptz(3),
      rotation_replay_response text,
      rotation_replay_expires_at timestamptz(3),
      auth_time timestamptz(3),
      confirmation jsonb,
      scopes jsonb not null
    );
    create index oauth_refresh_tokens_grant_idx on oauth_refresh_tokens (reference_id, user_id, client_id);
    create index oauth_refresh_tokens_client_idx on oauth_refresh_tokens (client_id);
    create index oauth_refresh_tokens_user_idx on oauth_refresh_tokens (user_id);
    create index oauth_refresh_tokens_session_idx on oauth_refresh_tokens (session_id);
    create index oauth_refresh_tokens_code_idx on oauth_refresh_tokens (authorization_code_id);
    create index oauth_refresh_tokens_expiry_idx on oauth_refresh_tokens (expires_at);

    create table oauth_access_tokens (
      id text primary key,
      token text not null unique,
      client_id text not null references oauth_clients (client_id) on delete cascade,
      session_id text references sessions (id) on delete set null,
      user_id text not null references users (id) on delete cascade,
      reference_id text not null references projects (id),
      authorization_code_id text,
      resources jsonb,
      requested_user_info_claims jsonb,
      refresh_id text references oauth_refresh_tokens (id) on delete cascade,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      revoked timestamptz(3),
      confirmation jsonb,
      scopes jsonb not null
    );
    create index oauth_access_tokens_grant_idx on oauth_access_tokens (reference_id, user_id, client_id);
    create index oauth_access_tokens_client_idx on oauth_access_tokens (client_id);
    create index oauth_access_tokens_user_idx on oauth_access_tokens (user_id);
    create index oauth_access_tokens_session_idx on oauth_access_tokens (session_id);
    create index oauth_access_tokens_refresh_idx on oauth_access_tokens (refresh_id);
    create index oauth_access_tokens_code_idx on oauth_access_tokens (authorization_code_id);
    create index oauth_access_tokens_expiry_idx on oauth_access_tokens (expires_at);
  `);
}
