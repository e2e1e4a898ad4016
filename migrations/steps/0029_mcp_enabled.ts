import type { Knex } from 'knex';

/**
 * Adds the switch by which a project admits or refuses programs of people. This step is separate from 0019, which would keep its locks on users
 * and sessions while it waits for projects. Databases of early checkouts have the column already.
 *
 * Locks: access exclusive on projects, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table projects add column if not exists mcp_enabled boolean not null default true');
}
