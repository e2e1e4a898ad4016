import type { Knex } from 'knex';

/**
 * Calls of tools that wait for a person's approval, and the rules that approve some of them in advance. A policy with
 * the state `hold` offers its tool to runs; an older release, without this state, leaves the tool out.
 *
 * Locks: access exclusive on tool_policies and runs, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table tool_policies
      drop constraint tool_policies_state_check,
      add constraint tool_policies_state_check check (state in ('disabled', 'automatic', 'hold')) not valid;
    -- The API key or the consent of an assistant that started the run; null for a person and for the schedule.
    alter table runs add column started_by text;
    create table tool_rules (
      id text primary key,
      project_id text not null,
      policy_id text not null references tool_policies (id) on delete cascade,
      -- The rule ends with the definition that it was made for.
      definition_hash text not null,
      conditions jsonb not null,
      expires_at timestamptz(3),
      max_uses integer,
      uses integer not null default 0,
      created_by text,
      created_at timestamptz(3) not null default now(),
      revoked_at timestamptz(3)
    );
    create index tool_rules_policy_idx on tool_rules (policy_id, id);
    create table actions (
      id text primary key,
      organization_id text not null,
      project_id text not null,
      routine_id text not null,
      -- The run that asked first, and the last one that asked for the same.
      run_id text not null,
      last_run_id text not null,
      times integer not null default 1,
      -- The credentials that started these runs.
      started_by text[] not null default '{}',
      policy_id text not null,
      connection_id text not null,
      connection_name text not null,
      account text,
      tool_name text not null,
      definition_hash text not null,
      arguments jsonb,
      digest text not null,
      -- Ids of the actions that the arguments refer to.
      refers_to text[] not null default '{}',
      model_reason text,
      state text not null default 'open' check (state in (
        'open', 'approved', 'sending', 'done', 'failed', 'outcome_unknown', 'rejected', 'replaced', 'closed')),
      reason text,
      note text,
      replaces text,
      replaced_by text,
      decided_by text,
      decided_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      -- An approved action is started at this time; while its workflow begins, the end of that lease.
      start_at timestamptz(3),
      attempts integer not null default 0,
      sent_at timestamptz(3),
      finished_at timestamptz(3),
      is_error boolean,
      result text,
      result_length integer,
      structured jsonb,
      error_message text
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create unique index actions_open_key on actions (routine_id, digest) where state = 'open';
    create index actions_project_idx on actions (project_id, id desc);
    create index actions_project_open_idx on actions (project_id, id desc) where state = 'open';
    create index actions_routine_idx on actions (routine_id, id desc);
    create index actions_run_idx on actions (run_id, id);
    create index actions_expiry_idx on actions (expires_at) where state = 'open';
    create index actions_start_idx on actions (start_at) where state in ('approved', 'sending');
  `);
}
