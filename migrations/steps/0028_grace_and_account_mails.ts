import type { Knex } from 'knex';

/**
 * When a subscription was first seen past due, from which its grace counts; the customer of each subscription; mails about
 * accounts, which are sealed and live as long as their links; and a text by which a process knows its encryption key.
 *
 * Locks: access exclusive on billing_subscriptions and outbox, for an instant; the check reads outbox without keeping
 * others waiting.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Apart from the subscriptions, which are replaced as a set, also by a release that knows no such time.
    create table billing_past_due (
      subscription_id text primary key,
      organization_id text not null references organizations (id),
      since timestamptz(3) not null
    );
    create index billing_past_due_organization_idx on billing_past_due (organization_id);

    insert into billing_past_due (subscription_id, organization_id, since)
    select id, organization_id, least(coalesce(period_start, now()), now()) from billing_subscriptions
    where status = 'past_due';

    -- Null in rows of a release before.
    alter table billing_subscriptions add column customer_id text;

    create table encryption_check (
      id text primary key,
      sealed text not null
    );
  `);

  // A channel of its own: a release before takes none of its rows.
  await knex.raw(`
    alter table outbox add column sealed text, add column expires_at timestamptz(3),
      drop constraint outbox_channel_check,
      add constraint outbox_channel_check check (channel in ('mail', 'ping', 'account')) not valid
  `);
  await knex.raw('alter table outbox validate constraint outbox_channel_check');
}
