import { createHmac } from 'node:crypto';
import type { PaymentEvent } from './objects.ts';

/** Signs a body as the processor does; `t` in seconds. */
export function signatureOf(body: string, secret: string, t = Math.floor(Date.now() / 1_000)): string {
  const signed = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return `t=${t},v1=${signed}`;
}

/** Sends one event to its endpoint and returns the status of the response, or 0 if there is none. */
export async function deliver(event: PaymentEvent, { url, secret }: { url: string; secret: string }): Promise<number> {
  const body = JSON.stringify(event, null, 2);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Stripe-Signature': signatureOf(body, secret),
      },
      body,
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}
