import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import type { Subscription } from './subscription.ts';

/** Replaces the subscriptions of an organization as a set. */
export async function replaceSubscriptions(
  tx: Db,
  organizationId: string,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await execute(
    tx,
    sql`delete from billing_subscriptions where organization_id = ${organizationId}`,
  );
  await execute(
    tx,
    sql`
      insert into billing_subscriptions (id, organization_id, status, price_id, plan, price_cents, currency, interval,
        started_at, period_start, period_end, cancels_at, entitled_until)
      select id, ${organizationId}, status, "priceId", plan, "priceCents", currency, interval, "startedAt",
        "periodStart", "periodEnd", "cancelsAt", "entitledUntil"
      from jsonb_to_recordset(${JSON.stringify(subscriptions)}::jsonb) as s(id text, status text, "priceId" text,
        plan text, "priceCents" integer, currency text, interval text, "startedAt" timestamptz,
        "periodStart" timestamptz, "periodEnd" timestamptz, "cancelsAt" timestamptz, "entitledUntil" timestamptz)
    `,
  );
}

/** Lists the subscriptions of an organization, the newest first. */
export function listSubscriptions(db: Db, organizationId: string): Promise<Subscription[]> {
  return rows<Subscription>(
    db,
    sql`
      select id, status, price_id as "priceId", plan, price_cents as "priceCents", currency, interval,
        started_at as "startedAt", period_start as "periodStart", period_end as "periodEnd",
        cancels_at as "cancelsAt", entitled_until as "entitledUntil"
      from billing_subscriptions where organization_id = ${organizationId}
      order by started_at desc, id
    `,
  );
}
