import type { Knex } from 'knex';

/**
 * Whether programs of people may use a project. Apart from the tables of 0019, whose locks on users and sessions it would
 * hold while it waits for projects; a checkout of that time has the column.
 *
 * Locks: access exclusive on projects, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table projects add column if not exists mcp_enabled boolean not null default true');
}
