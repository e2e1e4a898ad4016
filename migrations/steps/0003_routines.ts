import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table skills (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      description text,
      instructions text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3)
    );
    create index skills_project_idx on skills (project_id, id desc) where deleted_at is null;

    create table routines (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      instructions text not null,
      variables jsonb not null default '{}',
      schedule text not null,
      timezone text not null,
      model_provider text not null,
      model_connection_id text,
      model_id text not null,
      skills text[] not null default '{}',
      state text not null default 'draft' check (state in ('draft', 'active', 'paused', 'archived')),
      state_reason text,
      revision integer not null default 1,
      version integer not null default 1,
      overlap text not null default 'skip' check (overlap in ('skip', 'allow')),
      misfire text not null default 'run_once' check (misfire in ('run_once', 'skip')),
      max_steps integer not null,
      timeout_seconds integer not null,
      max_total_tokens integer,
      max_tokens_per_day bigint,
      max_cost_usd_per_month numeric(20, 10),
      pause_after_failures integer not null default 5,
      consecutive_failures integer not null default 0,
      webhook_url text,
      webhook_secret text,
      webhook_secret_previous text,
      webhook_secret_previous_until timestamptz(3),
      webhook_failed_at timestamptz(3),
      next_run_at timestamptz(3),
      last_run_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      archived_at timestamptz(3)
    );
    create index routines_project_idx on routines (project_id, id desc);
    create index routines_due_idx on routines (next_run_at) where state = 'active' and next_run_at is not null;
    create index routines_unscheduled_idx on routines (id) where state = 'active' and next_run_at is null;
  `);
}
