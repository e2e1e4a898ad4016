import type { Knex } from 'knex';

/**
 * The urgency of a result, the verdict of its readers, and runs that answer a question about the result.
 *
 * Locks: access exclusive on runs, for an instant. The indexes are built beside all writers, at 10 million runs in
 * about three minutes.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // `follows_up` is the run that began the thread. The constraint applies to new rows without a scan of the old ones.
  await knex.raw(`
    set lock_timeout = '2s';
    alter table runs
      add column if not exists urgency text,
      add column if not exists verdict jsonb,
      add column if not exists follows_up text,
      add column if not exists message text,
      drop constraint if exists runs_trigger_check,
      add constraint runs_trigger_check
        check (trigger in ('schedule', 'manual', 'backfill', 'follow_up')) not valid;
    reset lock_timeout;
  `);
  // The order of the queue, with follow-ups beside manual runs. The previous release reads runs_queue_idx, which a
  // later release drops.
  const indexes = {
    runs_queue_rank_idx: `(organization_id, (case trigger when 'schedule' then 1 when 'backfill' then 2 else 0 end), id)
      where state = 'queued' and admitted_at is null and not held`,
    runs_project_follow_up_idx: `(project_id, id desc) where trigger = 'follow_up'`,
    runs_follows_up_idx: `(follows_up, id) where follows_up is not null`,
  };
  for (const [name, columns] of Object.entries(indexes)) {
    // Drop the invalid index that an interrupted build leaves.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on runs ${columns}`);
  }
}
