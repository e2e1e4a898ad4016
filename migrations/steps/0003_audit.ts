import type { Knex } from 'knex';

/** The audit log. It has no foreign keys: what is on record outlives what it names. */
export async function up(knex: Knex): Promise<void> {
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
    -- A target that nothing happened to is the one filter that commonly finds nothing; it would read all events to say so.
    create index audit_events_target_idx on audit_events (organization_id, target_id, id desc);
    create index audit_events_created_idx on audit_events (created_at);

    create function refuse_audit_change() returns trigger language plpgsql as $$
      begin raise exception 'audit events are append-only'; end $$;
    create trigger audit_events_append_only before update on audit_events
      for each row execute function refuse_audit_change();
  `);
}
