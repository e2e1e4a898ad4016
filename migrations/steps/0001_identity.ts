import type { Knex } from 'knex';

/** The first five tables are better-auth's, under our names; a test compares them with what the library expects. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table users (
      id text primary key,
      name text not null,
      email text not null unique,
      email_verified boolean not null,
      image text,
      created_at timestamptz(3) not null default current_timestamp,
      updated_at timestamptz(3) not null default current_timestamp
    );
    create table sessions (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      token text not null unique,
      expires_at timestamptz(3) not null,
      ip_address text,
      user_agent text,
      created_at timestamptz(3) not null default current_timestamp,
      updated_at timestamptz(3) not null
    );
    create index sessions_user_id_idx on sessions (user_id);
    create table accounts (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      account_id text not null,
      provider_id text not null,
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at timestamptz(3),
      refresh_token_expires_at timestamptz(3),
      scope text,
      password text,
      created_at timestamptz(3) not null default current_timestamp,
      updated_at timestamptz(3) not null
    );
    create index accounts_user_id_idx on accounts (user_id);
    create table verifications (
      id text primary key,
      identifier text not null,
      value text not null,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default current_timestamp,
      updated_at timestamptz(3) not null default current_timestamp
    );
    create index verifications_identifier_idx on verifications (identifier);
    create table auth_rate_limits (
      id text primary key,
      key text not null unique,
      count integer not null,
      last_request bigint not null
    );

    create table organizations (
      id text primary key,
      name text not null,
      paid_plan text check (paid_plan in ('starter', 'pro', 'scale')),
      created_at timestamptz(3) not null default now()
    );
    create table memberships (
      organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade,
      role text not null check (role in ('owner', 'admin', 'member')),
      created_at timestamptz(3) not null default now(),
      primary key (user_id, organization_id)
    );
    create index memberships_organization_idx on memberships (organization_id);
    create table projects (
      id text primary key,
      organization_id text not null references organizations (id),
      name text not null,
      created_at timestamptz(3) not null default now()
    );
    create index projects_organization_idx on projects (organization_id, id desc);
    create table api_keys (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      prefix text not null unique,
      hash bytea not null,
      scopes text[] not null,
      created_by text references users (id) on delete set null,
      created_at timestamptz(3) not null default now(),
      last_used_at timestamptz(3),
      revoked_at timestamptz(3)
    );
    create index api_keys_project_idx on api_keys (project_id, id desc);
  `);
}
