import { itemOf, type Ledger, type Payments } from './ledger.ts';
import type { Session, Subscription } from './objects.ts';

/** Response of a hosted page: the page, or the next address. */
export type Visit = { readonly html: string } | { readonly location: string };

/** Shows the checkout, or makes a choice in it. */
export function visitCheckout(ledger: Ledger, session: Session, choice: string | undefined): Visit {
  if (choice === undefined || session.status !== 'open') return { html: checkoutPage(ledger, session) };
  if (choice === 'cancel') return { location: session.cancel_url };
  if (choice === 'decline') return { html: checkoutPage(ledger, session, 'The card was declined.') };
  ledger.pay(session, { free: choice === 'promotion' });
  return { location: session.success_url };
}

/** Shows the portal, or makes a choice in it. */
export function visitPortal(
  ledger: Ledger,
  portal: { customer: string; back: string; wanted: string | undefined },
  choice: { readonly action: string | undefined; readonly price: string | undefined },
): Visit {
  const subscription = [...ledger.subscriptions.values()].find(
    ({ customer, status }) => customer === portal.customer && status !== 'canceled',
  );
  if (choice.action === 'back') return { location: portal.back };
  const payments = PAYMENTS.find(([result]) => result === choice.action)?.[0];
  if (payments !== undefined) {
    ledger.payments.set(portal.customer, payments);
  } else if (choice.action === 'advance') {
    ledger.advance(30);
  } else if (subscription !== undefined && choice.action === 'cancel') {
    ledger.cancelAtEnd(subscription);
  } else if (subscription !== undefined && choice.action === 'change') {
    const price = ledger.prices.get(choice.price ?? '');
    if (price !== undefined) ledger.changePrice(subscription, price);
  }
  return { html: portalPage(ledger, portal, subscription) };
}

const PAYMENTS: readonly (readonly [Payments, string])[] = [
  ['succeed', 'Let the next payments succeed'],
  ['fail', 'Let the next payments fail'],
  ['ask', 'Let the bank ask the customer to confirm the next payments'],
];

function checkoutPage(ledger: Ledger, session: Session, notice = ''): string {
  const price = ledger.prices.get(session.price);
  const amount = dollars(price?.unit_amount ?? 0);
  if (session.status !== 'open') return page('Checkout', `<p>This checkout is ${session.status}.</p>`);
  return page(
    'Checkout',
    `<p class="notice">${notice}</p><p>Subscribe for <b>${amount}</b> a month.</p>` +
      button('pay', `Pay ${amount}`) +
      button('promotion', 'Use a promotion code of 100 %') +
      button('decline', 'Let the payment fail') +
      button('cancel', 'Cancel'),
  );
}

function portalPage(
  ledger: Ledger,
  { customer, wanted }: { customer: string; wanted: string | undefined },
  subscription: Subscription | undefined,
): string {
  const facts =
    subscription === undefined
      ? '<p>There is no subscription.</p>'
      : `<p>${dollars(itemOf(subscription).price.unit_amount)} a month, ${subscription.status}${
          subscription.cancel_at === null ? '' : ', ends with the period'
        }.</p>`;
  const prices = [...ledger.prices.values()]
    .filter(({ id }) => wanted === undefined || id === wanted)
    .map(({ id, unit_amount: cents }) => button('change', `Change to ${dollars(cents)}`, id));
  const now = ledger.payments.get(customer) ?? 'succeed';
  const others = PAYMENTS.filter(([result]) => result !== now);
  return page(
    'Your subscription',
    facts +
      (subscription === undefined ? '' : prices.join('') + button('cancel', 'Cancel at the end')) +
      others.map(([result, label]) => button(result, label)).join('') +
      button('advance', 'Let 30 days pass') +
      button('back', 'Back'),
  );
}

function button(action: string, label: string, price = ''): string {
  return `<button name="choice" value="${action}${price === '' ? '' : `:${price}`}">${label}</button>`;
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}: payment processor of this machine</title>
<style>body{font:16px/1.5 system-ui;max-width:26rem;margin:4rem auto;padding:0 1rem}
button{display:block;width:100%;margin:.5rem 0;padding:.7rem;font:inherit}.notice{color:#b00020}</style>
<h1>${title}</h1><form method="post">${content}</form><p><small>No money moves here.</small></p></html>`;
}
