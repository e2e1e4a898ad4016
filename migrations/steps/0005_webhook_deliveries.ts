import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // ladder_offset counts the attempts before the present retry schedule: those before a redelivery. An open delivery is
  // due when both its time and its lease are over.
  await knex.raw(`
    create table webhook_deliveries (
      id text primary key,
      project_id text not null references projects (id),
      routine_id text not null references routines (id),
      run_id text not null references runs (id),
      event_type text not null,
      body text not null,
      state text not null check (state in ('pending', 'sending', 'delivered', 'failed')),
      reason text check (reason in ('gone', 'retries_exhausted', 'webhook_removed')),
      attempt_count integer not null default 0,
      ladder_offset integer not null default 0,
      next_attempt_at timestamptz(3),
      claimed_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3)
    );
    create index webhook_deliveries_run_idx on webhook_deliveries (run_id, id);
    create index webhook_deliveries_due_idx on webhook_deliveries (greatest(next_attempt_at, claimed_until))
      where state in ('pending', 'sending');

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
