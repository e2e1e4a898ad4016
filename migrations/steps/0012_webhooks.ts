import type { Knex } from 'knex';

/** Deliveries to the webhooks of routines, and their attempts. */
export async function up(knex: Knex): Promise<void> {
  // An open delivery is due when both its time and its lease are over. Deliveries take turns by organization, and by
  // receiver within one. Vacuumed early, as the runs are.
  await knex.raw(`
    create table webhook_deliveries (
      id text primary key,
      organization_id text not null,
      project_id text not null references projects (id),
      routine_id text not null references routines (id),
      -- Null where no run is the cause: a routine can be paused without one.
      run_id text references runs (id),
      event_type text not null,
      host text not null,
      -- Null once the content of the run has been erased.
      body text,
      state text not null check (state in ('pending', 'sending', 'delivered', 'failed')),
      reason text check (reason in ('gone', 'retries_exhausted', 'webhook_removed')),
      attempt_count integer not null default 0,
      -- The attempts before the present retry schedule: those before a redelivery.
      ladder_offset integer not null default 0,
      next_attempt_at timestamptz(3),
      claimed_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3)
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create index webhook_deliveries_run_idx on webhook_deliveries (run_id, id);
    create index webhook_deliveries_due_idx on webhook_deliveries (greatest(next_attempt_at, claimed_until))
      where state in ('pending', 'sending');
    create index webhook_deliveries_turn_idx
      on webhook_deliveries (organization_id, host, greatest(next_attempt_at, claimed_until))
      where state in ('pending', 'sending');
    create index webhook_deliveries_lease_idx on webhook_deliveries (claimed_until)
      where state in ('pending', 'sending') and claimed_until is not null;

    create table webhook_attempts (
      delivery_id text not null references webhook_deliveries (id),
      index integer not null,
      started_at timestamptz(3) not null,
      duration_ms integer,
      status integer,
      error text,
      response_excerpt text,
      primary key (delivery_id, index)
    );
  `);
}
