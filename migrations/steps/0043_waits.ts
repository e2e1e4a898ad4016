import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A run that waits for a budget: since when its clock stands, until when it sleeps, which it keeps until its step is
  // granted, and for how long its clock has stood before. The release before has its runs wait on their own time.
  await knex.raw(`
    alter table runs
      add column waits_since timestamptz(3),
      add column waits_until timestamptz(3),
      add column waited_ms bigint not null default 0
  `);

  // Such a run takes no place. The conditions are those of core/runs/admission/room.ts.
  await knex.raw(`
    create or replace function free_places(queue text) returns bigint language sql stable as $$
      with workers as (
        select slots, build_id from worker_slots where task_queue = queue and takes_runs and expires_at > now()
      )
      select
        (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from workers)
        - (select count(*) from runs where state in ('queued', 'running') and admitted_at is not null
            and waits_since is null and (build_id is null or build_id in (select build_id from workers)))
    $$
  `);
}
