import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Two attempts at a step may both be with a provider, when the worker of the first was thought dead: each has a
  // reservation and an entry of its own. A reservation is held until its call has returned, or its lease has run out.
  // The scopes are named, because by then its run may be gone.
  await knex.raw(`
    alter table usage_reservations
      add column attempt integer not null default 1,
      add column scope_ids text[] not null default '{}',
      add column leased_until timestamptz(3) not null default now() + interval '1 hour';
    update usage_reservations set scope_ids = array[runs.organization_id, runs.project_id, runs.routine_id]
      from runs where runs.id = run_id;
    alter table usage_reservations
      drop constraint usage_reservations_pkey,
      add primary key (run_id, step_index, attempt),
      alter column scope_ids drop default,
      alter column leased_until drop default;
    create index usage_reservations_lease_idx on usage_reservations (leased_until);

    alter table usage_ledger add column attempt integer not null default 1;
    alter table usage_ledger
      drop constraint usage_ledger_pkey,
      add primary key (run_id, step_index, attempt);
  `);
}
