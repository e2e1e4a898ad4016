import { enqueueOperatorMail } from '#core/outbox/index.ts';
import { rows, sql, transaction, type Database } from '#lib/database/index.ts';

interface UnmailedLead {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly message: string;
}

/** Enquiries of one tick; more than come in an hour. */
const BATCH = 500;

/**
 * Queues the mails of enquiries that have none yet: those of before the operator said where to send them too.
 * @returns how many
 */
export function queueLeadMails(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const leads = await rows<UnmailedLead>(
      tx,
      sql`
        update business_leads set mail_queued_at = now()
        where id in (
          select id from business_leads where mail_queued_at is null order by id limit ${BATCH}
          for update skip locked
        )
        returning id, name, email, company, message
      `,
    );
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
