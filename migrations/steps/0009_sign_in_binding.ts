import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // The id of the session that began a sign-in, never its token. Null only of sign-ins from before this step, which
  // nobody can end any more: they are over within ten minutes anyway.
  await knex.raw(`alter table oauth_flows add column session_id text`);

  // What a server has asked for beyond what was granted (RFC 6750, section 3.1); later sign-ins ask for it too.
  await knex.raw(`alter table connections add column demanded_scopes text[] not null default '{}'`);
}
