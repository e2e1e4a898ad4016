import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Sign-ins under way. Only the browser has the state itself; sealed holds the PKCE verifier.
  await knex.raw(`
    create table oauth_flows (
      state_hash bytea primary key,
      project_id text not null references projects (id),
      user_id text not null references users (id) on delete cascade,
      provider text not null,
      connection_id text references connections (id) on delete cascade,
      name text,
      sealed text not null,
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now()
    );
    create index oauth_flows_expiry_idx on oauth_flows (expires_at);
    create index oauth_flows_connection_idx on oauth_flows (connection_id);
  `);

  // The holder of the lease renews the tokens, and the version tells the others when it is done. Both are columns, so
  // that no transaction is open during the call to the provider.
  await knex.raw(`
    alter table connections
      add column credentials_version integer not null default 1,
      add column renewal_lease text,
      add column renewal_leased_until timestamptz(3);
  `);
}
