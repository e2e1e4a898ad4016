import { group, text, texts, type Form } from './form.ts';
import { DAY, newId, type Ledger } from './ledger.ts';
import type { Price, Session } from './objects.ts';

/** An error that is thrown to respond with the processor's error envelope. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The faulty field of the request. */
  readonly param: string | undefined;

  constructor(status: number, code: string, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

export interface ApiRequest {
  readonly method: string;
  /** Path below `/v1`, like `customers/cus_1`. */
  readonly path: string;
  readonly form: Form;
}

/** Objects on one page of a list: few, so that tests read several pages. */
const PAGE = 2;

/** The most items within a subscription. Further items are only in the list of the subscription's items. */
const ITEMS = 10;

/** Handles a request on the ledger. `origin` is the address of the hosted pages. */
export function handle(ledger: Ledger, origin: string, { method, path, form }: ApiRequest): unknown {
  const [resource = '', id = '', action = ''] = path.split('/');
  const name = `${method} ${id === '' ? resource : action === '' ? `${resource}/:id` : `${resource}/:id/${action}`}`;
  switch (path.startsWith('checkout/') || path.startsWith('billing_portal/') ? '' : name) {
    case 'POST customers': {
      const customer = {
        id: newId('cus'),
        object: 'customer' as const,
        livemode: false,
        created: ledger.now(),
        metadata: texts(form, 'metadata'),
      };
      ledger.customers.set(customer.id, customer);
      return customer;
    }
    case 'GET customers/:id':
      return ledger.deleted.get(id) ?? found(ledger.customers, id, { what: 'customer' });
    case 'DELETE customers/:id':
      return ledger.deleteCustomer(found(ledger.customers, id, { what: 'customer' }));
    case 'GET prices/:id':
      return found(ledger.prices, id, { what: 'price' });
    case 'POST prices':
      return createPrice(ledger, form);
    case 'GET prices':
      return listOf(
        [...ledger.prices.values()].filter((p) => p.product === text(form, 'product')),
        form,
      );
    case 'POST products': {
      const product = {
        id: newId('prod'),
        object: 'product' as const,
        metadata: texts(form, 'metadata'),
      };
      ledger.products.set(product.id, product);
      return product;
    }
    case 'GET products':
      return listOf([...ledger.products.values()], form);
    case 'GET subscriptions':
      return listSubscriptions(ledger, form);
    case 'GET subscription_items':
      return listOf(found(ledger.subscriptions, text(form, 'subscription'), SUBSCRIPTION).items.data, form);
    case 'GET events':
      return listOf(ledger.events.toReversed(), form);
    default:
      return handlePages(ledger, origin, { method, path, form });
  }
}

/** Handles requests for sessions of the hosted pages. */
function handlePages(ledger: Ledger, origin: string, { method, path, form }: ApiRequest): unknown {
  const [, resource, id = '', action] = path.split('/');
  switch (`${method} ${resource}${id === '' ? '' : '/:id'}${action === undefined ? '' : `/${action}`}`) {
    case 'POST sessions':
      return path.startsWith('checkout') ? createSession(ledger, origin, form) : openPortal(ledger, origin, form);
    case 'GET sessions':
      return listSessions(ledger, form);
    case 'GET sessions/:id':
      return found(ledger.sessions, id, { what: 'checkout session' });
    case 'POST sessions/:id/expire': {
      const session = found(ledger.sessions, id, { what: 'checkout session' });
      if (session.status !== 'open') {
        throw new ApiError(400, 'resource_not_open', `This Session is ${session.status}.`);
      }
      session.status = 'expired';
      return session;
    }
    case 'GET configurations':
      return listOf([...ledger.configurations.values()], form);
    case 'POST configurations':
    case 'POST configurations/:id': {
      const before = ledger.configurations.get(id);
      const configuration = {
        id: before?.id ?? newId('bpc'),
        object: 'billing_portal.configuration' as const,
        metadata: { ...before?.metadata, ...texts(form, 'metadata') },
        features: form['features'],
      };
      ledger.configurations.set(configuration.id, configuration);
      return configuration;
    }
    default:
      throw new ApiError(404, 'unknown_url', `Unrecognized request URL (${method}: /v1/${path}).`);
  }
}

function createPrice(ledger: Ledger, form: Form): Price {
  const price: Price = {
    id: newId('price'),
    object: 'price',
    product: text(form, 'product') ?? '',
    unit_amount: Number(text(form, 'unit_amount')),
    currency: text(form, 'currency') ?? '',
    active: true,
    livemode: false,
    recurring: { interval: text(group(form, 'recurring'), 'interval') ?? '', interval_count: 1 },
    metadata: texts(form, 'metadata'),
  };
  ledger.prices.set(price.id, price);
  return price;
}

function createSession(ledger: Ledger, origin: string, form: Form): Session {
  if (form['payment_method_types'] !== undefined) {
    throw new ApiError(400, 'parameter_unknown', 'Received unknown parameter: payment_method_types');
  }
  const customer = found(ledger.customers, text(form, 'customer'), CUSTOMER);
  const price = text(group(group(form, 'line_items'), '0'), 'price') ?? '';
  found(ledger.prices, price, { what: 'price', param: 'line_items[0][price]' });
  const expiresAt = Number(text(form, 'expires_at'));
  // Compare the expiry with the machine's clock, because the service uses that clock too.
  const life = expiresAt - Date.now() / 1_000;
  if (!(life >= 30 * 60 && life <= DAY)) {
    throw new ApiError(400, 'parameter_invalid_integer', 'It must be 30 minutes to 24 hours from now.', 'expires_at');
  }
  const id = newId('cs_test');
  const session: Session = {
    id,
    object: 'checkout.session',
    mode: 'subscription',
    customer: customer.id,
    created: ledger.now(),
    expires_at: expiresAt,
    livemode: false,
    metadata: texts(form, 'metadata'),
    success_url: text(form, 'success_url') ?? '',
    cancel_url: text(form, 'cancel_url') ?? '',
    price,
    form,
    url: `${origin}/pay/${id}`,
    status: 'open',
    payment_status: 'unpaid',
    subscription: null,
  };
  ledger.sessions.set(id, session);
  return session;
}

function openPortal(ledger: Ledger, origin: string, form: Form) {
  const customer = found(ledger.customers, text(form, 'customer'), CUSTOMER).id;
  const id = newId('bps');
  const confirm = group(group(form, 'flow_data'), 'subscription_update_confirm');
  const wanted = text(group(group(confirm, 'items'), '0'), 'price');
  ledger.portals.set(id, { customer, back: text(form, 'return_url') ?? '', wanted });
  return { id, object: 'billing_portal.session', customer, url: `${origin}/portal/${id}` };
}

function listSubscriptions(ledger: Ledger, form: Form) {
  const expanded = Object.values(texts(form, 'expand')).includes('data.latest_invoice');
  assertKnown(ledger, text(form, 'customer'));
  const all = text(form, 'status') === 'all';
  const own = [...ledger.subscriptions.values()]
    .toReversed()
    .filter(({ customer }) => customer === text(form, 'customer'))
    .filter(({ status }) => all || status !== 'canceled')
    .map((subscription) => ({
      ...subscription,
      items: {
        ...subscription.items,
        data: subscription.items.data.slice(0, ITEMS),
        has_more: subscription.items.data.length > ITEMS,
      },
      latest_invoice: expanded ? subscription.latest_invoice : subscription.latest_invoice.id,
    }));
  return listOf(own, form);
}

/** Lists checkout sessions. Sessions of a deleted customer are included and show the customer as deleted. */
function listSessions(ledger: Ledger, form: Form) {
  const wanted = text(form, 'customer') ?? '';
  assertKnown(ledger, wanted);
  const expanded = Object.values(texts(form, 'expand')).includes('data.customer');
  const own = [...ledger.sessions.values()]
    .toReversed()
    .filter(({ customer, status }) => customer === wanted && status === text(form, 'status'));
  const customer = expanded ? (ledger.deleted.get(wanted) ?? ledger.customers.get(wanted)) : wanted;
  return listOf(
    own.map((session) => ({ ...session, customer })),
    form,
  );
}

/** Refuses an unknown customer; lists also accept a deleted one. */
function assertKnown(ledger: Ledger, customer: string | undefined): void {
  if (!ledger.deleted.has(customer ?? '')) found(ledger.customers, customer, CUSTOMER);
}

/** The name and the field of a missing object, for its error. */
const CUSTOMER = { what: 'customer', param: 'customer' };
const SUBSCRIPTION = { what: 'subscription', param: 'subscription' };

function listOf(objects: readonly { id: string }[], form: Form) {
  const after = text(form, 'starting_after');
  const from = after === undefined ? 0 : objects.findIndex(({ id }) => id === after) + 1;
  const data = objects.slice(from, from + PAGE);
  return { object: 'list', data, has_more: from + PAGE < objects.length };
}

/** Responds 404 for a missing object in the path, and 400 for one in a field. */
function found<T>(
  objects: ReadonlyMap<string, T>,
  id: string | undefined,
  { what, param }: { readonly what: string; readonly param?: string },
): T {
  const object = objects.get(id ?? '');
  if (object === undefined) {
    const status = param === undefined ? 404 : 400;
    throw new ApiError(status, 'resource_missing', `No such ${what}: '${id}'`, param ?? 'id');
  }
  return object;
}
