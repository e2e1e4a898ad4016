import type { Knex } from 'knex';

/** Mails and success pings that wait to be sent, and who has been told of what. */
export async function up(knex: Knex): Promise<void> {
  // A pending row is due at next_attempt_at, which is also the end of the lease of an attempt. Vacuumed early, as the
  // runs are.
  await knex.raw(`
    create table outbox (
      id text primary key,
      channel text not null check (channel in ('mail', 'ping')),
      kind text not null,
      -- Empty for what goes to the operator.
      organization_id text not null default '',
      project_id text references projects (id),
      routine_id text references routines (id),
      run_id text references runs (id),
      user_id text references users (id) on delete set null,
      url text,
      content jsonb,
      dedupe_key text unique,
      state text not null check (state in ('pending', 'held', 'sent', 'merged', 'cancelled', 'failed')),
      error text,
      attempts integer not null default 0,
      next_attempt_at timestamptz(3) not null default date_trunc('milliseconds', now()),
      created_at timestamptz(3) not null default now(),
      finished_at timestamptz(3),
      check ((state in ('pending', 'held')) = (finished_at is null))
    ) with (
      autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on
    );
    create index outbox_due_idx on outbox (channel, organization_id, next_attempt_at) where state = 'pending';
    create index outbox_oldest_idx on outbox (created_at) where state = 'pending' and channel = 'mail';
    create index outbox_held_idx on outbox (routine_id) where state = 'held';
    create index outbox_open_project_idx on outbox (project_id) where state in ('pending', 'held');
    create index outbox_run_idx on outbox (run_id) where run_id is not null;
    create index outbox_finished_idx on outbox (finished_at) where run_id is null and finished_at is not null;
  `);

  await knex.raw(`
    -- People who want no more mail about a routine or a project.
    create table mail_optouts (
      user_id text not null references users (id) on delete cascade,
      scope_id text not null,
      created_at timestamptz(3) not null default now(),
      primary key (user_id, scope_id)
    );

    -- A row for each routine that people were mailed about: when that last happened, and whether its last run failed.
    create table notification_states (
      routine_id text primary key references routines (id),
      failing boolean not null default false,
      mailed_at timestamptz(3),
      held boolean not null default false
    ) with (fillfactor = 80);
    create index notification_states_held_idx on notification_states (mailed_at) where held;

    -- The mails about failures in the present hour of a project, and whether more have been held back.
    create table project_mail_turns (
      project_id text primary key references projects (id),
      since timestamptz(3) not null,
      mails integer not null,
      held boolean not null default false
    ) with (fillfactor = 80);
    create index project_mail_turns_held_idx on project_mail_turns (since) where held;

    -- Shares of a budget that people were told of; one row each period.
    create table budget_notices (
      project_id text not null references projects (id),
      scope_id text not null,
      budget text not null check (budget in ('tokens_day', 'cost_month')),
      period date not null,
      percent integer not null check (percent in (80, 100)),
      primary key (project_id, scope_id, budget, period, percent)
    );
  `);
}
