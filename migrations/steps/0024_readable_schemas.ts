import type { Knex } from 'knex';

/**
 * The readable part of a tool's schemas, if another part cannot be read; stored when a person confirms the tool.
 *
 * Locks: access exclusive on tool_policies, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table tool_policies add column readable jsonb');
}
