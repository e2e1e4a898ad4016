import type { Knex } from 'knex';

/**
 * The time at which an organization ended the sessions of a member. In older sessions the member must prove their
 * identity again before they act in the organization.
 *
 * Locks: access exclusive on memberships, for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table memberships add column sessions_ended_at timestamptz');
}
