import type { Knex } from 'knex';

/** Personal accounts at model providers, the sign-ins to them, and the calls that runs make on them. */
export async function up(knex: Knex): Promise<void> {
  // A revoked account stays as the record of what it was, without its credential; its owner is named without a foreign
  // key, so that the record outlives the person's account.
  await knex.raw(`
    create table model_connections (
      id text primary key,
      project_id text not null references projects (id),
      owner_id text not null,
      provider text not null check (provider in ('provider-a', 'provider-b', 'provider-c')),
      provider_name text not null,
      -- The hash of where the credential may be sent; see core/model-connections/providers.
      provider_identity text not null,
      -- Tells two accounts of a provider apart: the subject of a verified ID token, or the hash of a key.
      account_id text,
      account_label text not null,
      state text not null check (state in ('ready', 'needs_reauthorization', 'plan_not_entitled', 'revoked')),
      public_error text,
      credential text,
      credential_version integer not null default 1,
      credential_expires_at timestamptz(3),
      renewal_lease text,
      renewal_leased_until timestamptz(3),
      renewal_sent_version integer,
      not_before timestamptz(3),
      validated_at timestamptz(3),
      last_used_at timestamptz(3),
      run_count integer not null default 0,
      catalogue_fetched_at timestamptz(3),
      catalogue_fresh_until timestamptz(3),
      catalogue_leased_until timestamptz(3),
      revoked_at timestamptz(3),
      revoked_by text,
      revoked_reason text check (revoked_reason in ('owner', 'member_removed', 'project_deleted')),
      paused_routine_count integer,
      provider_revocation text check (provider_revocation in ('pending', 'revoked', 'unsupported', 'failed')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check ((state = 'revoked') = (revoked_at is not null)),
      check ((state = 'revoked') = (credential is null))
    );
    create index model_connections_project_idx on model_connections (project_id, id desc);
    create index model_connections_owner_idx on model_connections (owner_id) where state <> 'revoked';
    create unique index model_connections_account_key
      on model_connections (project_id, owner_id, provider, account_id) where state <> 'revoked';

    create table model_connection_models (
      connection_id text not null references model_connections (id) on delete cascade,
      position integer not null,
      model_id text not null,
      name text not null,
      context_tokens integer,
      primary key (connection_id, model_id)
    );
  `);

  // One sign-in under way for each person, project and provider.
  await knex.raw(`
    create table model_sign_ins (
      id text primary key,
      project_id text not null references projects (id),
      user_id text not null references users (id) on delete cascade,
      session_id text not null,
      provider text not null,
      file_hash text not null,
      connection_id text references model_connections (id),
      state text not null default 'pending'
        check (state in ('pending', 'succeeded', 'denied', 'expired', 'cancelled', 'failed')),
      error text,
      state_hash bytea unique,
      -- PKCE verifier and nonce, device code and user code, or tokens that wait for their verification.
      sealed text,
      interval_seconds integer,
      next_poll_at timestamptz(3),
      polling_until timestamptz(3),
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      check ((state = 'pending') = (sealed is not null)),
      check ((state = 'pending') = (ended_at is null))
    );
    create unique index model_sign_ins_pending_key on model_sign_ins (project_id, user_id, provider)
      where state = 'pending';
    create index model_sign_ins_expiry_idx on model_sign_ins (expires_at);
  `);

  // Credentials of revoked accounts on their way back to who issued them; a row goes when that is settled.
  await knex.raw(`
    create table model_revocations (
      connection_id text primary key references model_connections (id),
      sealed text not null,
      attempts integer not null default 0,
      next_attempt_at timestamptz(3) not null default now(),
      give_up_at timestamptz(3) not null default now() + interval '1 day'
    );
    create index model_revocations_due_idx on model_revocations (next_attempt_at);
  `);

  // The lease of the API side on the one runtime: a single row.
  await knex.raw(`
    create table runtime_lease (
      singleton boolean primary key default true check (singleton),
      instance_id text not null,
      epoch bigint not null,
      expires_at timestamptz(3) not null
    );
  `);

  // The lease of a run on an account while state is 'issued', and the ledger of what was asked. Vacuumed early, as the
  // runs are.
  await knex.raw(`
    create table model_calls (
      request_id text primary key,
      project_id text not null references projects (id),
      connection_id text not null references model_connections (id),
      run_id text not null references runs (id) on delete cascade,
      step_index integer not null,
      attempt integer not null,
      instance_id text not null,
      epoch bigint not null,
      credential_version integer not null,
      state text not null default 'issued' check (state in ('issued', 'succeeded', 'failed', 'unknown_outcome')),
      failure text,
      issued_at timestamptz(3) not null default now(),
      leased_until timestamptz(3) not null,
      ended_at timestamptz(3),
      unique (run_id, step_index, attempt),
      check ((state = 'issued') = (ended_at is null))
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create index model_calls_open_idx on model_calls (connection_id) where state = 'issued';
    create index model_calls_connection_idx on model_calls (connection_id, issued_at desc);
  `);
}
