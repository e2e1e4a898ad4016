import { countWithin, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { enqueueOperatorMail } from '#core/foundation/outbox/index.ts';
import { deleteBatch, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';

/** A business enquiry of a person without an account. */
interface Lead {
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly message: string;
  /**
   * True when the field that no person sees was filled in. The response is the same as for a person, but nothing is
   * stored.
   */
  readonly isRobot: boolean;
  /** Address (IPv4) or network (64 bits of IPv6) that belongs to one caller. */
  readonly clientAddress: string;
  /** The largest network that one caller can rent, by its first bits: 24 of IPv4, 48 of IPv6. */
  readonly clientNetwork: string;
}

const HOUR = { windowSeconds: 3_600 };
const OF_ADDRESS: ThrottleRule = { name: 'lead-of-address', limit: 5, ...HOUR };
const OF_NETWORK: ThrottleRule = { name: 'lead-of-network', limit: 20, ...HOUR };
/** Limits repeated enquiries over all addresses together, so that room is left for first enquiries. */
const REPEATED: ThrottleRule = { name: 'lead-repeated', limit: 100, ...HOUR };
const IN_ALL: ThrottleRule = { name: 'lead-in-all', limit: 200, ...HOUR };

/**
 * Stores an enquiry, which the scheduler mails. The limits apply to all replicas together, and no single address or
 * network can use them up for others.
 * @throws {AppError} `rate_limited`
 */
export async function submitLead(db: Db, lead: Lead): Promise<void> {
  const nth = await count(db, OF_ADDRESS, lead.clientAddress);
  await count(db, OF_NETWORK, lead.clientNetwork);
  if (lead.isRobot) return;
  if (nth > 1) await count(db, REPEATED, '');
  await count(db, IN_ALL, '');
  await db.run`
    insert into business_leads (id, name, email, company, message)
    values (${newId('lead')}, ${lead.name}, ${lead.email}, ${lead.company}, ${lead.message})
  `;
}

async function count(db: Db, rule: ThrottleRule, subject: string): Promise<number> {
  const use = await countWithin(db, rule, subject);
  if (use.count <= rule.limit) return use.count;
  throw new AppError('rate_limited', 'Too many enquiries in this hour.', {
    'Retry-After': String(use.resetSeconds),
  });
}

/** Deletes enquiries after 400 days, whether or not they were mailed; returns how many. */
export function forgetLeads(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'business_leads',
    where: sql`created_at < now() - interval '400 days'`,
    orderBy: sql`created_at`,
    limit,
  });
}

/** Enquiries that one tick takes: more than can arrive in an hour. */
const BATCH = 500;

/**
 * Queues a mail for each enquiry that has none, including enquiries from before the operator named an address.
 * @returns how many
 */
export function queueLeadMails(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const leads = await tx.rows<Pick<Lead, 'name' | 'email' | 'company' | 'message'>>`
      update business_leads set mail_queued_at = now()
      where id in (
        select id from business_leads where mail_queued_at is null order by id limit ${BATCH}
        for update skip locked
      )
      returning name, email, company, message
    `;
    for (const { name, email, company, message } of leads) {
      await enqueueOperatorMail(tx, {
        kind: 'business_lead',
        content: {
          subject: `Enquiry from ${company}`,
          lines: [`${name} of ${company} (${email}) writes:`, message],
          replyTo: email,
        },
      });
    }
    return leads.length;
  });
}
