import type { Knex } from 'knex';

/** Runs, from the row that waits to the one that has ended, their steps, and where there is room for them. */
export async function up(knex: Knex): Promise<void> {
  // A run is its own outbox: workflow_started_at is null until Temporal has accepted it. It waits in its row until it is
  // admitted; only then does it become a workflow.
  //
  // Tables whose rows go through states are vacuumed early. Small partial indexes find the rows that are in a state, and
  // each row leaves an entry behind in them which every look reads past until the table is vacuumed. By default that is
  // done when a fifth of the table has changed, which of a million runs is an hour of many; here it is a hundredth. The
  // indexes have to be cleaned each time: Postgres leaves that out where dead rows lie in less than a fiftieth of the
  // pages, as they then always do.
  await knex.raw(`
    create table runs (
      id text primary key,
      organization_id text not null references organizations (id),
      project_id text not null references projects (id),
      routine_id text not null references routines (id),
      routine_revision integer not null,
      trigger text not null check (trigger in ('schedule', 'manual', 'backfill')),
      retry_of text,
      variables jsonb not null default '{}',
      -- True when the values were given by a caller who may not write routines: they are material, not instructions.
      values_fenced boolean not null default false,
      -- False for a run with other variables than its routine's own, also when its variables are erased.
      proves boolean,

      state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')),
      reason text,
      error_message text,
      cancel_requested_at timestamptz(3),
      -- A run under way ends some time after it was asked to stop, by the process that notices first.
      cancel_reason text,

      -- The occurrence that this is.
      scheduled_for timestamptz(3),
      skipped_count integer,
      skipped_until timestamptz(3),
      -- The occurrence that the run stands for without being it: one that was skipped has its row already.
      stands_for timestamptz(3),
      backfill_id text,
      after_previous boolean not null default false,
      -- The time that a person has asked for. Until then the run is held, and admission does not read it.
      run_at timestamptz(3),
      held boolean not null default false,
      queue_until timestamptz(3),
      admitted_at timestamptz(3),
      start_leased_until timestamptz(3),
      workflow_started_at timestamptz(3),
      build_id text,
      checked_at timestamptz(3),

      -- A run that waits for a budget: since when its clock stands, until when it sleeps, which it keeps until its step is
      -- granted, and for how long its clock has stood before.
      waits_since timestamptz(3),
      waits_until timestamptz(3),
      waited_ms bigint not null default 0,

      prompt text,
      -- The part of the text that differs in every run. It is kept, so that each step of the run sends the same.
      briefing text,
      -- By skill id the revision that the run was made with; null stands for revision 1 of each.
      skill_revisions jsonb,
      model_provider text,
      model_connection_id text,
      model_id text,
      max_steps integer not null,
      timeout_seconds integer not null,
      max_total_tokens integer,
      -- What the gate saw.
      gate jsonb,

      -- Null is read as done in a run that succeeded.
      outcome text,
      outcome_summary text,
      result text,
      checks jsonb,
      data jsonb,
      -- What changed since the run that it was compared with. Runs are compared one after the other; compared_at is that
      -- order, to the microsecond.
      changes jsonb,
      compared_with text,
      compared_at timestamptz,
      unchanged_runs integer,
      -- Why no webhook was told of the run.
      withheld text,

      step_count integer not null default 0,
      input_tokens bigint not null default 0,
      cached_input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric(20, 10),
      estimated_usage boolean not null default false,

      created_at timestamptz(3) not null default now(),
      started_at timestamptz(3),
      finished_at timestamptz(3),
      pinned boolean not null default false,
      content_erased_at timestamptz(3)
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
  `);

  // One row for an occurrence, and one for each that a backfill stands for.
  await knex.raw(`
    create unique index runs_occurrence_key on runs (routine_id, scheduled_for) where scheduled_for is not null;
    create unique index runs_backfill_key on runs (routine_id, stands_for) where trigger = 'backfill';
  `);

  // Admission takes manual runs first and those of a backfill last. The expression is that of core/runs/admission/room.ts.
  await knex.raw(`
    create index runs_queue_idx
      on runs (organization_id, (case trigger when 'manual' then 0 when 'schedule' then 1 else 2 end), id)
      where state = 'queued' and admitted_at is null and not held;
    create index runs_held_idx on runs (run_at) where held and state = 'queued';
    create index runs_project_held_idx on runs (project_id) where held and state = 'queued';
    create index runs_queue_until_idx on runs (queue_until) where state = 'queued' and started_at is null;
    create index runs_unstarted_idx on runs (start_leased_until)
      where state = 'queued' and admitted_at is not null and workflow_started_at is null;
    create index runs_admitted_idx on runs (organization_id)
      where state in ('queued', 'running') and admitted_at is not null;
    create index runs_open_idx on runs (routine_id, id) where state in ('queued', 'running');
    create index runs_waits_idx on runs (organization_id, project_id)
      where state = 'running' and waits_until is not null;
    -- Cancellations that a workflow has not obeyed yet; the sweep repeats them before anything else.
    create index runs_cancelling_idx on runs (cancel_requested_at)
      where state in ('queued', 'running') and cancel_requested_at is not null;
  `);

  // Pages of a project's runs, and of a routine's. Without an index of its own, a page of rare runs, like those with
  // another outcome than done, is read past all others.
  await knex.raw(`
    create index runs_project_idx on runs (project_id, id desc);
    create index runs_project_state_idx on runs (project_id, state, id desc);
    create index runs_project_manual_idx on runs (project_id, id desc) where trigger = 'manual';
    create index runs_project_backfill_idx on runs (project_id, id desc) where trigger = 'backfill';
    create index runs_project_outcome_idx on runs (project_id, outcome, id desc)
      where outcome in ('nothing_to_report', 'partial');
    create index runs_pinned_idx on runs (project_id) where pinned;
    create index runs_backfill_idx on runs (backfill_id) where backfill_id is not null;
    create index runs_routine_idx on runs (routine_id, id desc);
  `);

  // The latest runs of a routine and its proof are the first entries of these two. An index that begins with the project,
  // or has no id, makes Postgres take that of all runs of the project or routine for a short cut, and read them all where
  // this routine has none. Open runs have an index of their own, so a run is entered once, when it ends.
  await knex.raw(`
    create index runs_routine_state_idx on runs (routine_id, state, id desc)
      where state in ('succeeded', 'failed', 'cancelled', 'skipped');
    create index runs_routine_proof_idx on runs (routine_id, routine_revision, id desc)
      where trigger = 'manual' and state = 'succeeded';
    create index runs_data_idx on runs (routine_id, compared_at desc) where data is not null;
    -- For backfills, which look up whether a person has repeated a skipped occurrence by hand. Few runs are such repetitions.
    create index runs_repeated_idx on runs (routine_id, stands_for) where trigger = 'manual' and stands_for is not null;
  `);

  // An ended run is in the first two of these until its content is erased, in the others until it is deleted, and in
  // none of them while it is pinned: what is due is the beginning of an index, however much else there is.
  await knex.raw(`
    create index runs_content_idx on runs (finished_at)
      where content_erased_at is null and not pinned and finished_at is not null;
    create index runs_project_content_idx on runs (project_id, finished_at)
      where content_erased_at is null and not pinned and finished_at is not null;
    create index runs_erased_idx on runs (finished_at)
      where content_erased_at is not null and not pinned and finished_at is not null;
    create index runs_project_erased_idx on runs (project_id, finished_at)
      where content_erased_at is not null and not pinned and finished_at is not null;
  `);

  await knex.raw(`
    create table steps (
      run_id text not null references runs (id),
      index integer not null,
      project_id text not null,
      kind text not null check (kind in ('model', 'tool')),
      state text not null check (state in ('pending', 'started', 'succeeded', 'failed', 'outcome_unknown')),
      attempt integer not null default 1,
      -- Attempts that a provider failed, unlike attempt, which also counts those that a worker did not survive.
      provider_failures integer not null default 0,
      model_id text,
      text text,
      messages jsonb,
      tool jsonb,
      finish_reason text,
      error_message text,
      -- Faults of a response that did not end the run: a prompt that the server cut, a call that was written as text.
      warnings jsonb,
      input_tokens bigint not null default 0,
      cached_input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric(20, 10),
      usage_estimated boolean not null default false,
      started_at timestamptz(3),
      finished_at timestamptz(3),
      primary key (run_id, index)
    );

    -- The value that the last run acted on, as a hash, for the next run of the same version to compare with.
    create table gate_baselines (
      routine_id text primary key references routines (id),
      project_id text not null references projects (id),
      revision integer not null,
      value_hash text not null,
      is_empty boolean not null,
      etag text,
      asked_at timestamptz(3) not null,
      woke_at timestamptz(3) not null
    );
    create index gate_baselines_project_idx on gate_baselines (project_id);

    -- A row for each event stream, leased by the process that serves it: streams are counted over all replicas. Unlogged,
    -- as after a crash the streams are gone too.
    create unlogged table run_followers (
      id uuid primary key,
      organization_id text not null,
      credential text not null,
      leased_until timestamptz(3) not null
    );
    create index run_followers_organization_idx on run_followers (organization_id);
    create index run_followers_lease_idx on run_followers (leased_until);
  `);

  // Room is what live workers announce: a row each, which a worker that dies leaves to run out. Workers of another build
  // only end what they began, so neither their slots nor the runs that they carry count; nor does a run that waits for a
  // budget. Places are counted in two statements; the second has to count after it has the lock, so it is a function:
  // each query of a volatile one sees what was committed before that query. The conditions are those of
  // core/runs/admission/room.ts.
  await knex.raw(`
    create table worker_slots (
      worker_id text primary key,
      task_queue text not null,
      slots integer not null,
      build_id text,
      takes_runs boolean not null default true,
      expires_at timestamptz(3) not null
    );

    create function free_places(queue text) returns bigint language sql stable as $$
      with workers as (
        select slots, build_id from worker_slots where task_queue = queue and takes_runs and expires_at > now()
      )
      select
        (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from workers)
        - (select count(*) from runs where state in ('queued', 'running') and admitted_at is not null
            and waits_since is null and (build_id is null or build_id in (select build_id from workers)))
    $$;

    create function take_place(queue text) returns boolean language plpgsql volatile as $$
      begin
        if not pg_try_advisory_xact_lock(hashtextextended('ras:admission', 0)) then
          return false;
        end if;
        return free_places(queue) > 0
          and not exists (select from runs where state = 'queued' and admitted_at is null and not held);
      end
    $$;
  `);
}
