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

  // Free places are counted in two statements; the second has to count after it has the lock, so it is a function:
  // each query of a volatile one sees what was committed before that query. The conditions are those of
  // core/runs/admission/room.ts.
  await knex.raw(`
    create function free_places(queue text) returns bigint language sql stable as $$
      select
        (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from worker_slots
          where task_queue = queue and expires_at > now())
        - (select count(*) from runs where state in ('queued', 'running') and admitted_at is not null)
    $$;

    create function take_place(queue text) returns boolean language plpgsql volatile as $$
      begin
        if not pg_try_advisory_xact_lock(hashtextextended('ras:admission', 0)) then
          return false;
        end if;
        return not exists (select from runs where state = 'queued' and admitted_at is null) and free_places(queue) > 0;
      end
    $$;
  `);

  // Deliveries take turns by organization, and by receiver within one. Those of before are a group of their own. That a
  // routine was paused may be the consequence of no run.
  await knex.raw(`
    alter table webhook_deliveries
      alter column run_id drop not null,
      add column organization_id text not null default '',
      add column host text not null default '';
    create index webhook_deliveries_turn_idx
      on webhook_deliveries (organization_id, host, greatest(next_attempt_at, claimed_until))
      where state in ('pending', 'sending');
    create index webhook_deliveries_lease_idx on webhook_deliveries (claimed_until)
      where state in ('pending', 'sending') and claimed_until is not null;
  `);
}
