import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
  `);

  // Founders are counted, whoever owns the organization later. Until now an organization kept its founder as an owner.
  await knex.raw(`
    alter table organizations
      add column founded_by text references users (id) on delete set null,
      add column deleted_at timestamptz(3);
    alter table projects add column deleted_at timestamptz(3);
    alter table api_keys add column expires_at timestamptz(3);
    update organizations o set founded_by = (
      select user_id from memberships m where m.organization_id = o.id and m.role = 'owner' order by created_at limit 1);
    create index organizations_founded_by_idx on organizations (founded_by);
    create index api_keys_created_by_idx on api_keys (created_by) where revoked_at is null;
  `);

  // Unlogged: a count of some minutes is worth nothing after a crash.
  await knex.raw(`
    create unlogged table throttles (
      key text primary key,
      started_at timestamptz(3) not null,
      count integer not null
    ) with (fillfactor = 50);
  `);

  // No foreign keys: what is on record outlives what it names.
  await knex.raw(`
    create table audit_events (
      id text primary key,
      organization_id text not null,
      project_id text,
      actor_kind text not null check (actor_kind in ('person', 'key', 'system')),
      actor_id text,
      address text,
      action text not null,
      target_id text not null,
      details jsonb not null default '{}',
      created_at timestamptz(3) not null default now()
    );
    create index audit_events_organization_idx on audit_events (organization_id, id desc);
    create index audit_events_created_idx on audit_events (created_at);
    create function refuse_audit_change() returns trigger language plpgsql as $$
      begin raise exception 'audit events are append-only'; end $$;
    create trigger audit_events_append_only before update on audit_events
      for each row execute function refuse_audit_change();
  `);
}
