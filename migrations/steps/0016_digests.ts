import type { Knex } from 'knex';

/**
 * Who is mailed a digest of what is new in a project, and the routines that the service has stopped, which Home and the
 * digest name.
 *
 * Locks: the table is new. Its foreign keys hold off the writers of users and projects for as long as it takes to add them
 * to an empty table. The index is built beside all writers, in a second at 50,000 routines.
 */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // next_at is null while the person wants none. What ended before covered_until was in an earlier digest; last_date is the
  // date of that one on the clock of its zone. A date has one digest, also after a change of hour or zone.
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
  // One that was cut off is left invalid.
  await knex.raw('drop index concurrently if exists routines_stopped_idx');
  await knex.raw(`
    create index concurrently routines_stopped_idx on routines (project_id, id desc) where state_reason is not null
  `);
}
