import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Limits are held against one row a scope, which is kept and never computed: a sum over the ledger grows with the
  // month. A routine, its project and its organization are a scope each.
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
      tokens bigint not null,
      cost_usd numeric(20, 10) not null,
      primary key (run_id, step_index)
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
  `);

  await knex.raw(`
    insert into usage_totals (scope_id, day, day_tokens, month, month_tokens, month_cost_usd)
    select scope_id, today, coalesce(sum(total_tokens) filter (where (occurred_at at time zone 'utc')::date = today), 0),
      date_trunc('month', today)::date, sum(total_tokens), coalesce(sum(l.cost_usd), 0)
    from usage_ledger l
    join projects p on p.id = l.project_id
    cross join (select (now() at time zone 'utc')::date as today) as clock
    cross join lateral unnest(array[p.organization_id, l.project_id, l.routine_id]) as scope_id
    where (occurred_at at time zone 'utc')::date >= date_trunc('month', today)::date
    group by scope_id, today;

    insert into usage_days
    select l.project_id, (l.occurred_at at time zone 'utc')::date, l.routine_id, l.model_id, sum(s.input_tokens),
      sum(s.cached_input_tokens), sum(s.output_tokens), sum(s.reasoning_tokens), sum(l.cost_usd), count(*)
    from usage_ledger l
    join steps s on s.run_id = l.run_id and s.index = l.step_index
    group by 1, 2, 3, 4;

    drop index usage_ledger_routine_idx;
  `);

  await knex.raw(`
    alter table projects
      add column max_tokens_per_day bigint,
      add column max_cost_usd_per_month numeric(20, 10);
    alter table organizations
      add column max_tokens_per_day bigint,
      add column max_cost_usd_per_month numeric(20, 10);
    alter table routines add column max_output_tokens integer;
    alter table runs add column estimated_usage boolean not null default false;
    alter table steps add column usage_estimated boolean not null default false;
  `);
}
