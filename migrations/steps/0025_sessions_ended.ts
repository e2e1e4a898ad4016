import type { Knex } from 'knex';

/**
 * When an organization ended the sessions of a member: older ones prove their person again before they act in it.
 *
 * Locks: access exclusive on memberships, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table memberships add column sessions_ended_at timestamptz');
}
