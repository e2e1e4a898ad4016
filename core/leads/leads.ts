import { countWithin } from '#core/identity/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';

/** A business enquiry, as somebody without an account sends it. */
export interface Lead {
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly message: string;
  /**
   * True when the field that no person sees was filled in. The response is the same as for a person, but nothing is
   * kept.
   */
  readonly isRobot: boolean;
  /** The address or network that the caller has to itself. */
  readonly clientAddress: string;
}

const HOUR_SECONDS = 3_600;
const PER_ADDRESS = 5;
const IN_ALL = 200;

/**
 * Keeps an enquiry, to be mailed by the scheduler. Its limits hold over all replicas; one address cannot use up those
 * of all.
 * @throws {AppError} `rate_limited`
 */
export async function submitLead(db: Db, lead: Lead): Promise<void> {
  await assertWithin(db, `lead:${lead.clientAddress}`, PER_ADDRESS);
  if (lead.isRobot) return;
  await assertWithin(db, 'lead:all', IN_ALL);
  await execute(
    db,
    sql`
      insert into business_leads (id, name, email, company, message)
      values (${newId('lead')}, ${lead.name}, ${lead.email}, ${lead.company}, ${lead.message})
    `,
  );
}

async function assertWithin(db: Db, counter: string, limit: number): Promise<void> {
  const { count, resetSeconds } = await countWithin(db, counter, HOUR_SECONDS);
  if (count <= limit) return;
  throw new AppError('rate_limited', 'Too many enquiries in this hour.', {
    'Retry-After': String(Math.max(resetSeconds, 1)),
  });
}
