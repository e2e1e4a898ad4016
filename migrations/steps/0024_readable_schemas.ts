import type { Knex } from 'knex';

/**
 * What can be read of the schemas of a tool, where a part of them cannot: taken down when a person confirms the tool.
 *
 * Locks: access exclusive on tool_policies, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table tool_policies add column readable jsonb');
}
