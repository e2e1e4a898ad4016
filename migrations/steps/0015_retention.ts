import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Null where the project has chosen nothing: then the operator's days hold.
  await knex.raw(`
    alter table projects add column run_content_days integer, add column run_days integer;
    create index projects_retention_idx on projects (id)
      where run_content_days is not null or run_days is not null;
  `);

  // An ended run is in the first two of these until its content is erased, in the others until it is deleted, and in
  // none of them while it is pinned: what is due is the beginning of an index, however much else there is.
  await knex.raw(`
    alter table runs
      add column content_erased_at timestamptz(3),
      add column pinned boolean not null default false;
    create index runs_content_idx on runs (finished_at)
      where content_erased_at is null and not pinned and finished_at is not null;
    create index runs_project_content_idx on runs (project_id, finished_at)
      where content_erased_at is null and not pinned and finished_at is not null;
    create index runs_erased_idx on runs (finished_at)
      where content_erased_at is not null and not pinned and finished_at is not null;
    create index runs_project_erased_idx on runs (project_id, finished_at)
      where content_erased_at is not null and not pinned and finished_at is not null;
    create index runs_pinned_idx on runs (project_id) where pinned;
    alter table webhook_deliveries alter column body drop not null;
  `);

  // What was used outlives the run that used it, and a retry the run that it repeats. Without an index on retry_of each
  // deletion would have read the whole table, too.
  await knex.raw(`
    alter table usage_ledger drop constraint usage_ledger_run_id_fkey;
    alter table runs drop constraint runs_retry_of_fkey;
  `);

  // The latest proof run of a version, once it has been deleted.
  await knex.raw('alter table routine_versions add column proof_run_id text');

  // For housekeeping, which reads the oldest of each minute by minute.
  await knex.raw(`
    create index usage_days_day_idx on usage_days (day);
    create index skills_deleted_idx on skills (deleted_at) where deleted_at is not null;
    create index sessions_expiry_idx on sessions (expires_at);
    create index verifications_expiry_idx on verifications (expires_at);
    create index auth_rate_limits_request_idx on auth_rate_limits (last_request);
  `);
}
