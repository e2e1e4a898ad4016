import type { Knex } from 'knex';

/** People, how they prove who they are, and what they own. Organizations hold projects, and projects all the rest. */
export async function up(knex: Knex): Promise<void> {
  // These four tables are better-auth's, under our names; a test compares them with what the library expects.
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
    -- For housekeeping, which deletes people who never confirm their address.
    create index users_unconfirmed_idx on users (created_at) where not email_verified;

    create table sessions (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      token text not null unique,
      expires_at timestamptz(3) not null,
      ip_address text,
      user_agent text,
      -- When the person last proved who they are: what changes access asks for a new proof after a while.
      proven_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default current_timestamp,
      updated_at timestamptz(3) not null
    );
    create index sessions_user_id_idx on sessions (user_id);
    create index sessions_expiry_idx on sessions (expires_at);

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
    create index verifications_expiry_idx on verifications (expires_at);
  `);

  // Recovery codes are the way back from a lost device, so they and passkeys go with the second factor of their person.
  await knex.raw(`
    create table second_factors (
      user_id text primary key references users (id) on delete cascade,
      secret text not null,
      confirmed_at timestamptz(3),
      -- The newest time step whose code was used, so that no code is taken twice.
      last_step bigint,
      created_at timestamptz(3) not null default now()
    );
    create table recovery_codes (
      user_id text not null references second_factors (user_id) on delete cascade,
      hash bytea not null,
      used_at timestamptz(3),
      primary key (user_id, hash)
    );
    create table passkeys (
      id text primary key,
      user_id text not null references second_factors (user_id) on delete cascade,
      name text not null,
      public_key bytea not null,
      counter bigint not null,
      created_at timestamptz(3) not null default now(),
      last_used_at timestamptz(3)
    );
    create index passkeys_user_idx on passkeys (user_id);
  `);

  await knex.raw(`
    create table organizations (
      id text primary key,
      name text not null,
      -- Founders are counted, also where another person owns the organization later.
      founded_by text references users (id) on delete set null,
      requires_second_factor boolean not null default false,
      -- Paid access ends by itself: the plan counts while paid_until lies ahead, so grace and cancellation need no tick.
      paid_plan text check (paid_plan in ('starter', 'pro', 'scale')),
      paid_until timestamptz(3),
      period_start timestamptz(3),
      period_end timestamptz(3),
      max_tokens_per_day bigint,
      max_cost_usd_per_month numeric(20, 10),
      created_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3)
    );
    create index organizations_founded_by_idx on organizations (founded_by);

    create table memberships (
      organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade,
      role text not null check (role in ('owner', 'admin', 'member')),
      created_at timestamptz(3) not null default now(),
      primary key (user_id, organization_id)
    );
    create index memberships_organization_idx on memberships (organization_id);

    create table invitations (
      id text primary key,
      organization_id text not null references organizations (id),
      email text not null,
      role text not null check (role in ('admin', 'member')),
      token_hash bytea not null unique,
      invited_by text references users (id) on delete set null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      unique (organization_id, email)
    );
    create index invitations_list_idx on invitations (organization_id, id desc);

    create table projects (
      id text primary key,
      organization_id text not null references organizations (id),
      name text not null,
      max_tokens_per_day bigint,
      max_cost_usd_per_month numeric(20, 10),
      -- These three are null where the project has chosen nothing: then the operator's days and mails hold.
      run_content_days integer,
      run_days integer,
      notify_mail jsonb,
      created_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3),
      erased_at timestamptz(3)
    );
    create index projects_organization_idx on projects (organization_id, id desc);
    create index projects_retention_idx on projects (id)
      where run_content_days is not null or run_days is not null;
    -- Deleted projects that may still hold what people wrote; each leaves the index an hour or more later.
    create index projects_unerased_idx on projects (id) where deleted_at is not null and erased_at is null;

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
      expires_at timestamptz(3),
      revoked_at timestamptz(3)
    );
    create index api_keys_project_idx on api_keys (project_id, id desc);
    create index api_keys_created_by_idx on api_keys (created_by) where revoked_at is null;
  `);
}
