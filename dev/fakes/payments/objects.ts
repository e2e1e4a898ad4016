/** Objects of the processor, with the fields that the service reads, under their names in the API. */
export interface Price {
  readonly id: string;
  readonly object: 'price';
  readonly product: string;
  readonly unit_amount: number;
  readonly currency: string;
  readonly active: boolean;
  readonly livemode: boolean;
  readonly recurring: { readonly interval: string; readonly interval_count: number };
  readonly metadata: Record<string, string>;
}

export interface Customer {
  readonly id: string;
  readonly object: 'customer';
  readonly livemode: boolean;
  readonly created: number;
  readonly metadata: Record<string, string>;
}

export interface Invoice {
  readonly id: string;
  readonly object: 'invoice';
  readonly customer: string;
  readonly created: number;
  readonly amount_due: number;
  readonly livemode: boolean;
  readonly parent: { readonly subscription_details: { readonly subscription: string } };
  status: 'open' | 'paid';
  attempt_count: number;
}

export interface Subscription {
  readonly id: string;
  readonly object: 'subscription';
  readonly customer: string;
  readonly created: number;
  readonly start_date: number;
  readonly livemode: boolean;
  status: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  items: {
    readonly object: 'list';
    readonly has_more: false;
    data: {
      readonly id: string;
      readonly object: 'subscription_item';
      price: Price;
      current_period_start: number;
      current_period_end: number;
    }[];
  };
  latest_invoice: Invoice;
}

export interface Session {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly mode: 'subscription';
  readonly customer: string;
  readonly created: number;
  readonly expires_at: number;
  readonly livemode: boolean;
  readonly metadata: Record<string, string>;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly price: string;
  /** The form of the request that created the checkout. */
  readonly form: object;
  readonly url: string | null;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid' | 'no_payment_required';
  subscription: string | null;
}

export interface PaymentEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly data: { readonly object: unknown };
}
