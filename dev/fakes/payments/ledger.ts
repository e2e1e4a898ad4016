import { randomBytes } from 'node:crypto';
import type { Customer, Invoice, PaymentEvent, Price, Session, Subscription } from './objects.ts';

export const DAY = 86_400;

/** Days after which a failed payment is tried again. After the last attempt the subscription ends. */
const RETRY_DAYS = [3, 8, 15];

/** Result of a customer's next payments; `ask` if the customer's bank requires a confirmation. */
export type Payments = 'succeed' | 'fail' | 'ask';

/** State of the processor. Its clock can be set ahead. */
export class Ledger {
  readonly products = new Map<string, { id: string; object: 'product'; metadata: Record<string, string> }>();
  readonly prices = new Map<string, Price>();
  readonly customers = new Map<string, Customer>();
  readonly deleted = new Map<string, { id: string; object: 'customer'; deleted: true }>();
  readonly sessions = new Map<string, Session>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly portals = new Map<string, { customer: string; back: string; wanted: string | undefined }>();
  readonly configurations = new Map<string, { id: string; metadata: Record<string, string> }>();
  readonly events: PaymentEvent[] = [];
  readonly payments = new Map<string, Payments>();
  /** True if a subscription stays past due after the last retry, with a new invoice each month; false if it ends. */
  leavesPastDue = false;
  #aheadSeconds = 0;
  readonly #heard: (event: PaymentEvent) => void;

  constructor(heard: (event: PaymentEvent) => void) {
    this.#heard = heard;
  }

  now(): number {
    return Math.floor(Date.now() / 1_000) + this.#aheadSeconds;
  }

  /** Completes a checkout: its payment succeeds or fails. */
  pay(session: Session, { free = false } = {}): Subscription {
    const price = this.prices.get(session.price);
    if (price === undefined || session.status !== 'open') throw new Error('nothing to pay');
    const subscription = this.subscribe(session.customer, price);
    session.status = 'complete';
    session.payment_status = free ? 'no_payment_required' : 'paid';
    session.subscription = subscription.id;
    this.emit('checkout.session.completed', session);
    this.emit('customer.subscription.created', subscription);
    this.emit('invoice.paid', subscription.latest_invoice);
    return subscription;
  }

  /** Deletes a customer and ends their subscriptions; their checkouts stay open. */
  deleteCustomer({ id }: Customer): { id: string; object: 'customer'; deleted: true } {
    this.customers.delete(id);
    const deleted = { id, object: 'customer' as const, deleted: true as const };
    this.deleted.set(id, deleted);
    for (const subscription of this.subscriptions.values()) {
      if (subscription.customer === id && subscription.status !== 'canceled') this.#end(subscription);
    }
    return deleted;
  }

  subscribe(customer: string, price: Price, start = this.now()): Subscription {
    const id = newId('sub');
    const subscription: Subscription = {
      id,
      object: 'subscription',
      customer,
      created: start,
      start_date: start,
      livemode: false,
      status: 'active',
      cancel_at: null,
      cancel_at_period_end: false,
      items: {
        object: 'list',
        has_more: false,
        data: [itemFor(price, start)],
      },
      latest_invoice: this.#invoice(customer, id, price, start),
    };
    this.subscriptions.set(id, subscription);
    return subscription;
  }

  /** Cancels a subscription at the end of its period, as the portal does: by `cancel_at` alone. */
  cancelAtEnd(subscription: Subscription): PaymentEvent {
    subscription.cancel_at = itemOf(subscription).current_period_end;
    return this.emit('customer.subscription.updated', subscription);
  }

  /** Changes the price at once; the period stays. */
  changePrice(subscription: Subscription, price: Price): PaymentEvent {
    itemOf(subscription).price = price;
    return this.emit('customer.subscription.updated', subscription);
  }

  /** Sets the clock ahead day by day: renews, collects, retries, gives up, and ends cancelled subscriptions. */
  advance(days: number): void {
    for (let day = 0; day < days; day += 1) {
      this.#aheadSeconds += DAY;
      for (const subscription of this.subscriptions.values()) this.#daily(subscription);
      for (const session of this.sessions.values()) {
        if (session.status === 'open' && session.expires_at <= this.now()) session.status = 'expired';
      }
    }
  }

  emit(type: string, object: unknown): PaymentEvent {
    const event: PaymentEvent = {
      id: newId('evt'),
      object: 'event',
      type,
      created: this.now(),
      livemode: false,
      // A copy, so that an event that is sent later shows the state at its creation.
      data: { object: structuredClone(object) },
    };
    this.events.push(event);
    this.#heard(event);
    return event;
  }

  #daily(subscription: Subscription): void {
    const item = itemOf(subscription);
    const now = this.now();
    if (subscription.status === 'active' && subscription.cancel_at !== null) {
      if (subscription.cancel_at > now) return;
      this.#end(subscription);
    } else if (subscription.status === 'active' && item.current_period_end <= now) {
      this.#renew(subscription);
    } else if (subscription.status === 'past_due' && item.current_period_end <= now) {
      this.#renew(subscription);
    } else if (subscription.status === 'past_due') {
      this.#collectAgain(subscription);
    }
  }

  #renew(subscription: Subscription): void {
    const item = itemOf(subscription);
    item.current_period_start = item.current_period_end;
    item.current_period_end += 30 * DAY;
    const { customer, id } = subscription;
    subscription.latest_invoice = this.#invoice(customer, id, item.price, item.current_period_start);
    if (!this.#succeeds(customer)) {
      subscription.latest_invoice.status = 'open';
      subscription.status = 'past_due';
      this.emit('invoice.payment_failed', subscription.latest_invoice);
      if (this.payments.get(customer) === 'ask') {
        this.emit('invoice.payment_action_required', subscription.latest_invoice);
      }
    } else {
      subscription.status = 'active';
      this.emit('invoice.paid', subscription.latest_invoice);
    }
    this.emit('customer.subscription.updated', subscription);
  }

  #collectAgain(subscription: Subscription): void {
    const { latest_invoice: invoice } = subscription;
    const age = Math.floor((this.now() - invoice.created) / DAY);
    if (!RETRY_DAYS.includes(age)) return;
    invoice.attempt_count += 1;
    if (this.#succeeds(subscription.customer)) {
      invoice.status = 'paid';
      subscription.status = 'active';
      this.emit('invoice.paid', invoice);
      this.emit('customer.subscription.updated', subscription);
    } else if (age === RETRY_DAYS.at(-1) && !this.leavesPastDue) {
      this.#end(subscription);
    } else {
      this.emit('invoice.payment_failed', invoice);
    }
  }

  #succeeds(customer: string): boolean {
    return (this.payments.get(customer) ?? 'succeed') === 'succeed';
  }

  #end(subscription: Subscription): void {
    subscription.status = 'canceled';
    this.emit('customer.subscription.deleted', subscription);
  }

  #invoice(customer: string, subscription: string, price: Price, created: number): Invoice {
    return {
      id: newId('in'),
      object: 'invoice',
      customer,
      created,
      amount_due: price.unit_amount,
      livemode: false,
      parent: { subscription_details: { subscription } },
      status: 'paid',
      attempt_count: 1,
    };
  }
}

export function itemOf({ items }: Subscription): Subscription['items']['data'][number] {
  const [item] = items.data;
  if (item === undefined) throw new Error('a subscription without an item');
  return item;
}

/** Makes an item for a price, with a period of 30 days. */
export function itemFor(price: Price, start: number): Subscription['items']['data'][number] {
  return {
    id: newId('si'),
    object: 'subscription_item',
    price,
    current_period_start: start,
    current_period_end: start + 30 * DAY,
  };
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
