import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A run under way ends some time after it was asked to stop, by whoever notices first. Why it was asked stands beside the
  // request; a request of the release before has none, and its run ends as one that a person cancelled.
  await knex.raw('alter table runs add column cancel_reason text');
}
