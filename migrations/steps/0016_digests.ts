import type { Knex } from 'knex';

/**
 * The people who get a digest of the news of a project, and an index of the routines that the service has stopped,
 * which Home and the digest name.
 *
 * Locks: the table is new. Its foreign keys block writers of users and projects while they are added to an empty table.
 * The index is built beside all writers, in a second at 50,000 routines.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // next_at is null while the person wants no digest. Runs that ended before covered_until were in an earlier digest;
  // last_date is the local date of that digest. A date has one digest, also after a change of hour or zone.
  await knex.raw(`
    create table if not exists result_digests (
      user_id text not null references users (id) on delete cascade,
      project_id text not null references projects (id),
      frequency text not null check (frequency in ('off', 'daily', 'weekly')),
      weekday text not null
        check (weekday in ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')),
      hour integer not null check (hour between 0 and 23),
      timezone text not null,
      next_at timestamptz(3),
      covered_until timestamptz(3) not null,
      last_date date,
      primary key (user_id, project_id),
      check ((frequency = 'off') = (next_at is null))
    );
    create index if not exists result_digests_due_idx on result_digests (next_at) where next_at is not null;
    create index if not exists result_digests_project_idx on result_digests (project_id);
  `);
  // Drop the invalid index that an interrupted build leaves.
  await knex.raw('drop index concurrently if exists routines_stopped_idx');
  await knex.raw(`
    create index concurrently routines_stopped_idx on routines (project_id, id desc) where state_reason is not null
  `);
}
