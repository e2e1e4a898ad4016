import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A run is its own outbox: workflow_started_at is null until Temporal has accepted it.
  await knex.raw(`
    create table runs (
      id text primary key,
      project_id text not null references projects (id),
      routine_id text not null references routines (id),
      routine_revision integer not null,
      trigger text not null check (trigger in ('schedule', 'manual')),
      state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')),
      reason text,
      error_message text,
      scheduled_for timestamptz(3),
      skipped_count integer,
      skipped_until timestamptz(3),
      variables jsonb not null default '{}',
      retry_of text references runs (id),
      prompt text,
      model_provider text,
      model_connection_id text,
      model_id text,
      max_steps integer not null,
      timeout_seconds integer not null,
      max_total_tokens integer,
      result text,
      step_count integer not null default 0,
      input_tokens bigint not null default 0,
      cached_input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric(20, 10),
      created_at timestamptz(3) not null default now(),
      workflow_started_at timestamptz(3),
      start_leased_until timestamptz(3),
      checked_at timestamptz(3),
      started_at timestamptz(3),
      finished_at timestamptz(3),
      cancel_requested_at timestamptz(3)
    );
    create unique index runs_occurrence_key on runs (routine_id, scheduled_for) where scheduled_for is not null;
    create index runs_project_idx on runs (project_id, id desc);
    create index runs_project_state_idx on runs (project_id, state, id desc);
    create index runs_project_manual_idx on runs (project_id, id desc) where trigger = 'manual';
    create index runs_routine_idx on runs (routine_id, id desc);
    create index runs_outbox_idx on runs (id) where state = 'queued' and workflow_started_at is null;
    create index runs_outbox_project_idx on runs (project_id, id) where state = 'queued' and workflow_started_at is null;
    create index runs_proof_idx on runs (routine_id, routine_revision) where trigger = 'manual' and state = 'succeeded';
    create index runs_open_idx on runs (routine_id, id) where state in ('queued', 'running');

    create table steps (
      run_id text not null references runs (id),
      index integer not null,
      project_id text not null,
      kind text not null check (kind in ('model', 'tool')),
      state text not null check (state in ('pending', 'started', 'succeeded', 'failed', 'outcome_unknown')),
      attempt integer not null default 1,
      model_id text,
      text text,
      messages jsonb,
      tool jsonb,
      finish_reason text,
      error_message text,
      input_tokens bigint not null default 0,
      cached_input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric(20, 10),
      started_at timestamptz(3),
      finished_at timestamptz(3),
      primary key (run_id, index)
    );

    create table usage_ledger (
      run_id text not null references runs (id),
      step_index integer not null,
      project_id text not null,
      routine_id text not null,
      model_id text not null,
      total_tokens bigint not null,
      cost_usd numeric(20, 10),
      occurred_at timestamptz(3) not null,
      primary key (run_id, step_index)
    );
    create index usage_ledger_routine_idx on usage_ledger (routine_id, occurred_at);

    create table monthly_runs (
      organization_id text not null references organizations (id),
      month date not null,
      runs integer not null,
      primary key (organization_id, month)
    );
  `);
}
