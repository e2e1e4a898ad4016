import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The window of a schedule, the dates that it leaves out, and how much later than it a routine may start.
  await knex.raw(`
    alter table routines
      add column starts_at timestamptz(3),
      add column ends_at timestamptz(3),
      add column skip_dates text[] not null default '{}',
      add column jitter_seconds integer not null default 0;
  `);

  // A run is held until the time that a person has asked for: admission, which every other run waits for, does not
  // read it before. What a run stands for without being the schedule's own occurrence is a column of its own, as an
  // occurrence that was skipped has its row already. Every row there is satisfies the wider check.
  await knex.raw(`
    alter table runs
      add column run_at timestamptz(3),
      add column held boolean not null default false,
      add column stands_for timestamptz(3),
      add column backfill_id text;
    alter table runs drop constraint runs_trigger_check;
    alter table runs add constraint runs_trigger_check
      check (trigger in ('schedule', 'manual', 'backfill')) not valid;

    create index runs_held_idx on runs (run_at) where held and state = 'queued';
    create index runs_project_held_idx on runs (project_id) where held and state = 'queued';
    create unique index runs_backfill_key on runs (routine_id, stands_for) where trigger = 'backfill';
    create index runs_backfill_idx on runs (backfill_id) where backfill_id is not null;
    create index runs_project_backfill_idx on runs (project_id, id desc) where trigger = 'backfill';
  `);

  // Admission takes manual runs first and those of a backfill last. The expression is that of
  // core/runs/admission/room.ts, and so are the conditions of the function.
  await knex.raw(`
    drop index runs_waiting_idx;
    create index runs_queue_idx
      on runs (organization_id, (case trigger when 'manual' then 0 when 'schedule' then 1 else 2 end), id)
      where state = 'queued' and admitted_at is null and not held;

    create or replace function take_place(queue text) returns boolean language plpgsql volatile as $$
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
