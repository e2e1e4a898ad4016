import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A queued run waits in its row until it is admitted; only then does it become a workflow.
  await knex.raw(`
    alter table runs
      add column organization_id text references organizations (id),
      add column admitted_at timestamptz(3),
      add column queue_until timestamptz(3),
      add column after_previous boolean not null default false;
    update runs set organization_id = p.organization_id from projects p where p.id = runs.project_id;
    update runs set admitted_at = coalesce(workflow_started_at, now())
      where state = 'running' or (state = 'queued' and workflow_started_at is not null);
    alter table runs alter column organization_id set not null;

    alter table routines add column max_queue_seconds integer not null default 21600;
    alter table routines drop constraint routines_overlap_check;
    alter table routines add constraint routines_overlap_check
      check (overlap in ('skip', 'queue', 'cancel_previous', 'allow'));
  `);

  await knex.raw(`
    create index runs_waiting_idx on runs (organization_id, (trigger <> 'manual'), id)
      where state = 'queued' and admitted_at is null;
    create index runs_queue_until_idx on runs (queue_until) where state = 'queued' and started_at is null;
    create index runs_unstarted_idx on runs (start_leased_until)
      where state = 'queued' and admitted_at is not null and workflow_started_at is null;
    create index runs_admitted_idx on runs (organization_id)
      where state in ('queued', 'running') and admitted_at is not null;
    drop index runs_outbox_idx;
    drop index runs_outbox_project_idx;
  `);

  // Room is what live workers announce: a row each, which a worker that dies leaves to run out.
  await knex.raw(`
    create table worker_slots (
      worker_id text primary key,
      task_queue text not null,
      slots integer not null,
      expires_at timestamptz(3) not null
    );
  `);
}
