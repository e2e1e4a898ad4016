import type { Knex } from 'knex';

/**
 * The time at which a subscription was first seen past due, when its grace begins; the customer of each subscription;
 * mails about accounts, which are sealed and expire with their links; and a text that shows a process whether it has
 * the right encryption key.
 *
 * Locks: access exclusive on billing_subscriptions and outbox, for an instant; the check reads outbox without blocking
 * others.
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

  // Mails about accounts have a separate channel, whose rows the previous release leaves alone.
  await knex.raw(`
    alter table outbox add column sealed text, add column expires_at timestamptz(3),
      drop constraint outbox_channel_check,
      add constraint outbox_channel_check check (channel in ('mail', 'ping', 'account')) not valid
  `);
  await knex.raw('alter table outbox validate constraint outbox_channel_check');
}
