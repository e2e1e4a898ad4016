import type { Knex } from 'knex';

/** Routines, and each version of what is material in them: a run executes the version that it was made with. */
export async function up(knex: Knex): Promise<void> {
  // Vacuumed early, as the runs are: each claim moves the next time of a routine.
  await knex.raw(`
    create table routines (
      id text primary key,
      project_id text not null references projects (id),
      name text not null,
      state text not null default 'draft' check (state in ('draft', 'active', 'paused', 'archived')),
      state_reason text,
      revision integer not null default 1,
      version integer not null default 1,

      -- Everything material, as core/routines/definition.ts declares it. The columns below are of it: statements look for
      -- them, or copy them to a run.
      definition jsonb not null,
      skills jsonb not null generated always as (coalesce(definition -> 'skills', '[]')) stored,
      model_provider text not null generated always as (definition #>> '{model,provider}') stored,
      model_connection_id text generated always as (definition #>> '{model,connectionId}') stored,
      model_id text not null generated always as (definition #>> '{model,modelId}') stored,
      max_steps integer not null generated always as ((definition #>> '{limits,maxSteps}')::integer) stored,
      timeout_seconds integer not null
        generated always as ((definition #>> '{limits,timeoutSeconds}')::integer) stored,
      max_queue_seconds integer not null
        generated always as ((definition #>> '{limits,maxQueueSeconds}')::integer) stored,
      max_total_tokens integer generated always as ((definition #>> '{limits,maxTotalTokens}')::integer) stored,

      max_tokens_per_day bigint,
      max_cost_usd_per_month numeric(20, 10),

      schedule text not null,
      timezone text not null,
      starts_at timestamptz(3),
      ends_at timestamptz(3),
      skip_dates text[] not null default '{}',
      jitter_seconds integer not null default 0,
      overlap text not null default 'skip'
        check (overlap in ('skip', 'queue', 'cancel_previous', 'allow')),
      misfire text not null default 'run_once' check (misfire in ('run_once', 'skip')),
      next_run_at timestamptz(3),
      last_run_at timestamptz(3),

      pause_after_failures integer not null default 5,
      consecutive_failures integer not null default 0,
      deliver text not null default 'always' check (deliver in ('always', 'changed', 'failed')),
      webhook_url text,
      webhook_secret text,
      webhook_secret_previous text,
      webhook_secret_previous_until timestamptz(3),
      webhook_failed_at timestamptz(3),
      success_ping_url text,
      -- Null where people have chosen nothing; the routine then follows its project.
      notify_mail jsonb,

      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      archived_at timestamptz(3)
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create index routines_project_idx on routines (project_id, id desc);
    create index routines_due_idx on routines (next_run_at) where state = 'active' and next_run_at is not null;
    create index routines_unscheduled_idx on routines (id) where state = 'active' and next_run_at is null;
    -- Found when an account is taken away, and each minute while a provider is disabled; the gateway's are not in them.
    create index routines_active_account_idx on routines (model_connection_id)
      where state = 'active' and model_connection_id is not null;
    create index routines_active_provider_idx on routines (model_provider)
      where state = 'active' and model_provider <> 'gateway';
  `);

  await knex.raw(`
    create table routine_versions (
      routine_id text not null references routines (id),
      revision integer not null,
      project_id text not null references projects (id),

      definition jsonb not null,
      skills jsonb not null generated always as (coalesce(definition -> 'skills', '[]')) stored,
      tools jsonb not null,

      changed text[] not null,
      restored_from integer,
      -- The latest proof run of the version, once that run has been deleted.
      proof_run_id text,
      -- By skill id the revision that was proven, and the one that was activated; null stands for revision 1 of each.
      proof_skills jsonb,
      active_skills jsonb,
      created_at timestamptz(3) not null default now(),
      created_by text,
      primary key (routine_id, revision)
    );
  `);
}
