import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Room is that of the workers which new runs reach. Workers of another build only end what they began, so neither
  // their slots nor the runs that they carry count. Workers of an earlier release announce neither column.
  await knex.raw(`
    alter table worker_slots
      add column build_id text,
      add column takes_runs boolean not null default true;
    alter table runs add column build_id text;

    create or replace function free_places(queue text) returns bigint language sql stable as $$
      with workers as (
        select slots, build_id from worker_slots where task_queue = queue and takes_runs and expires_at > now()
      )
      select
        (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from workers)
        - (select count(*) from runs where state in ('queued', 'running') and admitted_at is not null
            and (build_id is null or build_id in (select build_id from workers)))
    $$;
  `);
}
