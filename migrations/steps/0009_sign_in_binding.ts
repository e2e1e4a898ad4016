import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The id of the session that began a sign-in, never its token. It is null only in sign-ins from before this migration,
  // which nobody can complete any more; they expire within ten minutes anyway.
  await knex.raw(`alter table oauth_flows add column session_id text`);

  // The scopes that a server demanded beyond those granted (RFC 6750, section 3.1); later sign-ins ask for them too.
  await knex.raw(`alter table connections add column demanded_scopes text[] not null default '{}'`);
}
