import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // A row for each event stream, leased by the process that serves it. Unlogged: after a crash the streams are gone too.
  await knex.raw(`
    create unlogged table run_followers (
      id uuid primary key,
      run_id text not null,
      organization_id text not null,
      credential text not null,
      leased_until timestamptz(3) not null
    );
    create index run_followers_run_idx on run_followers (run_id);
    create index run_followers_organization_idx on run_followers (organization_id);
    create index run_followers_lease_idx on run_followers (leased_until);
  `);
}
