import type { Knex } from 'knex';

/** Allowances, what the payment processor says of customers, and enquiries of businesses. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Runs of a period: that of the subscription, or the calendar month (UTC) where no one pays.
    create table period_runs (
      organization_id text not null references organizations (id),
      period_start timestamptz(3) not null,
      runs integer not null,
      primary key (organization_id, period_start)
    );

    create table billing_customers (
      organization_id text primary key references organizations (id),
      -- Null until the processor has made it; then never another.
      customer_id text unique,
      livemode boolean not null,
      creation_attempt integer not null default 1,
      sync_requested bigint not null default 0,
      sync_done bigint not null default 0,
      requested_at timestamptz(3),
      synced_at timestamptz(3),
      lease_token uuid,
      leased_until timestamptz(3),
      attempts integer not null default 0,
      next_attempt_at timestamptz(3),
      checkout_attempt integer not null default 0,
      checkout_leased_until timestamptz(3),
      created_at timestamptz(3) not null default now()
    );
    create index billing_customers_unsynced_idx on billing_customers (requested_at)
      where sync_requested > sync_done and customer_id is not null;
    create index billing_customers_synced_idx on billing_customers (synced_at) where customer_id is not null;

    -- All subscriptions of a customer as the processor last listed them, replaced as a set.
    create table billing_subscriptions (
      id text primary key,
      organization_id text not null references organizations (id),
      status text not null,
      price_id text,
      plan text check (plan in ('starter', 'pro', 'scale')),
      price_cents integer,
      currency text,
      interval text,
      started_at timestamptz(3),
      period_start timestamptz(3),
      period_end timestamptz(3),
      cancels_at timestamptz(3),
      -- Null for one that entitles to nothing.
      entitled_until timestamptz(3)
    );
    create index billing_subscriptions_organization_idx on billing_subscriptions (organization_id);

    create table billing_checkouts (
      session_id text primary key,
      organization_id text not null references organizations (id),
      plan text not null check (plan in ('starter', 'pro', 'scale')),
      created_by text references users (id) on delete set null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      -- Null while it is open, as far as is known here.
      closed_at timestamptz(3)
    );
    create index billing_checkouts_open_idx on billing_checkouts (created_at) where closed_at is null;

    -- Ids and kinds only; never deleted, so that a replay years later changes nothing.
    create table payment_events (
      id text primary key,
      kind text not null,
      received_at timestamptz(3) not null default now()
    );
  `);

  await knex.raw(`
    create table business_leads (
      id text primary key,
      name text not null,
      email text not null,
      company text not null,
      message text not null,
      created_at timestamptz(3) not null default now(),
      mail_queued_at timestamptz(3)
    );
    create index business_leads_unqueued_idx on business_leads (id) where mail_queued_at is null;
    create index business_leads_created_idx on business_leads (created_at);
  `);
}
