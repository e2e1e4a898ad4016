import type { Knex } from 'knex';

/** What was used, what may be used, and what is held back for calls under way. It outlives the runs that used it. */
export async function up(knex: Knex): Promise<void> {
  // Two attempts at a step may both be with a provider, when the worker of the first was thought dead: each has a
  // reservation and an entry of its own.
  await knex.raw(`
    create table usage_ledger (
      run_id text not null,
      step_index integer not null,
      attempt integer not null default 1,
      project_id text not null,
      routine_id text not null,
      model_id text not null,
      total_tokens bigint not null,
      cost_usd numeric(20, 10),
      occurred_at timestamptz(3) not null,
      primary key (run_id, step_index, attempt)
    );

    create table usage_days (
      project_id text not null references projects (id),
      day date not null,
      routine_id text not null,
      model_id text not null,
      input_tokens bigint not null,
      cached_input_tokens bigint not null,
      output_tokens bigint not null,
      reasoning_tokens bigint not null,
      cost_usd numeric(20, 10),
      steps bigint not null,
      primary key (project_id, day, routine_id, model_id)
    ) with (fillfactor = 80);
    create index usage_days_day_idx on usage_days (day);
  `);

  // Limits are held against one row a scope, which is kept and never computed: a sum over the ledger grows with the
  // month. A routine, its project and its organization are a scope each. A reservation is held until its call has
  // returned, or its lease has run out.
  await knex.raw(`
    create table usage_totals (
      scope_id text primary key,
      day date not null,
      day_tokens bigint not null default 0,
      month date not null,
      month_tokens bigint not null default 0,
      month_cost_usd numeric(20, 10) not null default 0,
      reserved_tokens bigint not null default 0,
      reserved_cost_usd numeric(20, 10) not null default 0
    ) with (fillfactor = 50);

    create table usage_reservations (
      run_id text not null references runs (id),
      step_index integer not null,
      attempt integer not null default 1,
      -- Named, because the run may be gone by the time that the lease has run out.
      scope_ids text[] not null,
      tokens bigint not null,
      cost_usd numeric(20, 10) not null,
      -- What the call has sent, for when its process dies and no other record tells. Null where it counts nothing then: a
      -- call on a personal account, which another attempt finds again.
      input_tokens bigint,
      input_cost_usd numeric(20, 10),
      leased_until timestamptz(3) not null,
      primary key (run_id, step_index, attempt)
    );
    create index usage_reservations_lease_idx on usage_reservations (leased_until);
  `);
}
