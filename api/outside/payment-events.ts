import { z } from 'zod';
import { recordEvent, syncWithin } from '#core/billing/index.ts';
import { AppError } from '#lib/errors.ts';
import { route } from '../route.ts';

/**
 * Time that the response waits for the synchronization. A longer one goes on, and the scheduler repeats one that fails.
 */
const SYNC_MS = 5_000;

export const receivePaymentEvent = route({
  method: 'POST',
  path: '/webhooks/stripe',
  id: 'receivePaymentEvent',
  tag: 'Operations',
  summary: 'Take an event of the payment processor',
  description:
    'For the payment processor only. The signature in `Stripe-Signature` is verified over the raw body. An event only asks for the current subscriptions of its customer; nothing in it grants anything. Events of other kinds, of the other mode and repetitions are accepted and ignored.',
  auth: 'stripe-signature',
  success: {
    status: 200,
    data: z.strictObject({ received: z.literal(true) }).meta({ id: 'PaymentEventReceived' }),
    description: 'The event is on record.',
  },
  errors: ['invalid_signature', 'body_too_large'],
}).to(async ({ access: { event }, deps: { database, payment } }) => {
  const { processor, watch } = payment;
  if (processor === undefined) throw new AppError('invalid_signature');
  const deps = { database, processor, watch };
  const organizationId = await recordEvent(deps, event);
  if (organizationId !== undefined) await syncWithin(deps, organizationId, SYNC_MS);
  return { data: { received: true } };
});
