import { z } from 'zod';
import { now } from '#lib/clock.ts';
import { transaction } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { requested } from './customers.ts';
import { raise, type PaymentDeps, type Processor } from './processor.ts';

/** The kinds of events that the endpoint accepts. After each, the service lists the customer's subscriptions again. */
export const EVENT_KINDS = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
] as const;

const ACCEPTED: ReadonlySet<string> = new Set(EVENT_KINDS);

/** An id of the processor that is safe in a query. */
const processorId = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/** The fields that the service reads from an event. */
const paymentEvent = z.object({
  id: processorId,
  type: z.string(),
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }),
});
export type PaymentEvent = z.output<typeof paymentEvent>;

/** Customer of an object. The processor sends the id or the whole customer. */
const ofCustomer = z.object({
  customer: z.union([processorId, z.object({ id: processorId }).transform(({ id }) => id)]),
});

/** The most seconds by which the time of a signature may differ from our clock. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies the signature of a payment event over its raw body.
 * @throws {AppError} `invalid_signature` for any fault, also when the body is no event or no processor is configured
 * @see https://docs.stripe.com/webhooks/signature
 */
export function verifyEvent(
  processor: Processor | undefined,
  { body, signature }: { body: Buffer; signature: string },
): PaymentEvent {
  if (processor === undefined) throw new AppError('invalid_signature');
  try {
    const { stripe, webhookSecret } = processor;
    // Refuse a signature dated in the future, which the library accepts: the signature could be replayed until then.
    // Allow only one time: of several, the library takes the last and this check the first.
    const [time = '', another] = Array.from(signature.matchAll(/(?:^|,)t=([^,]*)/g), ([, t]) => t);
    const signedAt = /^\d{1,12}$/.test(time) && another === undefined ? Number(time) : NaN;
    if (!(signedAt * 1_000 < now() + TOLERANCE_SECONDS * 1_000)) throw new Error('ahead');
    return paymentEvent.parse(
      stripe.webhooks.constructEvent(body, signature, webhookSecret, TOLERANCE_SECONDS, undefined, now()),
    );
  } catch {
    throw new AppError('invalid_signature');
  }
}

/**
 * Records a verified event. The event only names the customer to sync, so order, age and content of events do not
 * matter. The event's id and the request are written in one transaction.
 * @returns the organization to sync; undefined for a repeated event, and for an event about no organization here
 */
export async function recordEvent(deps: PaymentDeps, event: PaymentEvent): Promise<string | undefined> {
  const { database, processor, watch } = deps;
  const ignored = (why: string) => {
    watch.metrics.paymentEvent({ kind: ACCEPTED.has(event.type) ? event.type : 'other', outcome: why });
    return undefined;
  };
  if (!ACCEPTED.has(event.type)) return ignored('other_kind');
  if (event.livemode !== processor.livemode) return ignored('other_mode');
  const customer = ofCustomer.safeParse(event.data.object).data?.customer;
  const outcome = await transaction(database, async (tx) => {
    const fresh = await tx.row`
      insert into payment_events (id, kind) values (${event.id}, ${event.type})
      on conflict do nothing returning id
    `;
    if (fresh === undefined) return 'repeated';
    return tx.row<{ organizationId: string }>`
      update billing_customers set ${requested}
      where customer_id = ${customer ?? null} and livemode = ${event.livemode}
      returning organization_id as "organizationId"
    `;
  });
  if (outcome === 'repeated') return ignored('repeated');
  if (outcome === undefined) {
    if (event.type.startsWith('customer.subscription.') && event.livemode) {
      raise(watch, 'unknown_customer', { event: event.id });
    }
    return ignored('unknown_customer');
  }
  watch.metrics.paymentEvent({ kind: event.type, outcome: 'accepted' });
  return outcome.organizationId;
}
