import { group, text, texts, type Form } from './form.ts';
import { newId, type Ledger } from './ledger.ts';
import type { Price, Session } from './objects.ts';

/** Thrown to respond with the processor's error envelope. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface ApiRequest {
  readonly method: string;
  /** Path below `/v1`, like `customers/cus_1`. */
  readonly path: string;
  readonly form: Form;
}

/** Objects on one page of a list, few so that lists have several pages. */
const PAGE = 2;

/** Handles a request on the ledger. `origin` is that of the hosted pages. */
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
    case 'GET prices/:id':
      return found(ledger.prices, id, 'price');
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
    case 'GET events':
      return listOf(ledger.events.toReversed(), form);
    default:
      return handlePages(ledger, origin, { method, path, form });
  }
}

/** Handles requests about the hosted pages. */
function handlePages(ledger: Ledger, origin: string, { method, path, form }: ApiRequest): unknown {
  const [, resource, id = '', action] = path.split('/');
  switch (`${method} ${resource}${id === '' ? '' : '/:id'}${action === undefined ? '' : `/${action}`}`) {
    case 'POST sessions':
      return path.startsWith('checkout') ? createSession(ledger, origin, form) : openPortal(ledger, origin, form);
    case 'GET sessions':
      return listOf(
        [...ledger.sessions.values()]
          .toReversed()
          .filter(({ customer, status }) => customer === text(form, 'customer') && status === text(form, 'status')),
        form,
      );
    case 'GET sessions/:id':
      return found(ledger.sessions, id, 'checkout session');
    case 'POST sessions/:id/expire': {
      const session = found(ledger.sessions, id, 'checkout session');
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
  const customer = found(ledger.customers, text(form, 'customer') ?? '', 'customer');
  const price = text(group(group(form, 'line_items'), '0'), 'price') ?? '';
  found(ledger.prices, price, 'price');
  const id = newId('cs_test');
  const session: Session = {
    id,
    object: 'checkout.session',
    mode: 'subscription',
    customer: customer.id,
    created: ledger.now(),
    expires_at: Number(text(form, 'expires_at')),
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
  const customer = found(ledger.customers, text(form, 'customer') ?? '', 'customer').id;
  const id = newId('bps');
  const confirm = group(group(form, 'flow_data'), 'subscription_update_confirm');
  const wanted = text(group(group(confirm, 'items'), '0'), 'price');
  ledger.portals.set(id, { customer, back: text(form, 'return_url') ?? '', wanted });
  return { id, object: 'billing_portal.session', customer, url: `${origin}/portal/${id}` };
}

function listSubscriptions(ledger: Ledger, form: Form) {
  const expanded = Object.values(texts(form, 'expand')).includes('data.latest_invoice');
  const all = text(form, 'status') === 'all';
  const own = [...ledger.subscriptions.values()]
    .toReversed()
    .filter(({ customer }) => customer === text(form, 'customer'))
    .filter(({ status }) => all || status !== 'canceled')
    .map((subscription) =>
      expanded ? subscription : { ...subscription, latest_invoice: subscription.latest_invoice.id },
    );
  return listOf(own, form);
}

function listOf(objects: readonly { id: string }[], form: Form) {
  const after = text(form, 'starting_after');
  const from = after === undefined ? 0 : objects.findIndex(({ id }) => id === after) + 1;
  const data = objects.slice(from, from + PAGE);
  return { object: 'list', data, has_more: from + PAGE < objects.length };
}

function found<T>(objects: ReadonlyMap<string, T>, id: string, what: string): T {
  const object = objects.get(id);
  if (object === undefined) throw new ApiError(404, 'resource_missing', `No such ${what}: '${id}'`);
  return object;
}
