import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { component } from '../http/schemas.ts';
import { recordEvent, syncWithin } from '#core/accounts/billing/index.ts';
import { obstacles } from '#core/upkeep/observability/index.ts';
import { tickInProcess } from '#core/scheduling/index.ts';
import { AppError } from '#lib/errors.ts';
import { networkOf } from '../http/client-address.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Operations');

const health = route('GET /health', {
  id: 'health',
  summary: 'Liveness',
  description: 'The process responds. For Postgres and Temporal see `/ready`.',
  auth: 'none',
  success: {
    data: component('Health', { status: z.literal('ok') }),
    description: 'Alive.',
  },
}).to(async () => ({ data: { status: 'ok' } }));

const ready = route('GET /ready', {
  id: 'ready',
  summary: 'Readiness',
  description:
    'Ready means that Postgres can be reached and has every migration of this release. Temporal is reported but not required: while it is away this process serves reads and accepts runs, which wait. An address with more than 120 requests a minute gets the last finding, at most five seconds old.',
  auth: 'none',
  success: {
    data: component('Readiness', { postgres: z.literal('ok'), temporal: z.enum(['ok', 'away']) }),
    description: 'Postgres can be reached, and its schema is new enough.',
  },
  errors: ['service_unavailable'],
}).to(async ({ by, deps }) => {
  const { database, temporal } = await deps.readiness(networkOf(by.address ?? ''), () => obstacles(deps));
  if (database !== undefined) {
    const message = `${database.charAt(0).toUpperCase()}${database.slice(1)}.`;
    throw new AppError('service_unavailable', message, { 'Retry-After': '5' });
  }
  return { data: { postgres: 'ok', temporal: temporal === undefined ? 'ok' : 'away' } };
});

const readVersion = route('GET /v1/version', {
  id: 'readVersion',
  summary: 'Version of the service',
  description: 'The release, as the changelog names it. `ras doctor` compares it with its own.',
  auth: 'none',
  success: {
    data: component('Version', { version: z.string().meta({ example: '1.4.0' }) }),
    description: 'The version.',
  },
}).to(async () => ({ data: { version } }));

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

export const healthRoutes: readonly Route[] = [health, ready, readVersion];

export const schedulerTick = route('POST /internal/scheduler/tick', {
  id: 'schedulerTick',
  summary: 'Tick the scheduler from outside',
  description:
    'Runs the tick that the scheduler workflow makes each minute, as a fallback for an external cron. Ticks may overlap. The response does not wait for the end of the tick.',
  auth: 'scheduler-secret',
  success: {
    status: 202,
    data: component('TickAccepted', { accepted: z.literal(true), alreadyRunning: z.boolean() }),
    description: 'The tick has begun, or the previous tick has not ended yet.',
  },
  errors: ['invalid_signature', 'scheduler_unavailable'],
}).to(async ({ deps }) => ({ data: { accepted: true, ...tickInProcess(deps) } }));

/**
 * Time that the response waits for the synchronization. A longer synchronization continues, and the scheduler repeats a
 * failed one.
 */
const SYNC_MS = 5_000;

export const receivePaymentEvent = route('POST /webhooks/stripe', {
  id: 'receivePaymentEvent',
  summary: 'Take an event of the payment processor',
  description:
    'For the payment processor only. The signature in `Stripe-Signature` is verified over the raw body. An event only causes a look at the current subscriptions of its customer; its content grants nothing. Events of other kinds, of the other mode and repetitions are accepted and ignored.',
  auth: 'stripe-signature',
  success: {
    data: component('PaymentEventReceived', { received: z.literal(true) }),
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
