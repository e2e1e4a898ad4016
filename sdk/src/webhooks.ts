import { Webhook, WebhookVerificationError as Refusal } from 'standardwebhooks';
import { WebhookVerificationError } from './errors.ts';
import { parseExact } from './exact.ts';
import type { Shape } from './types.ts';

type RunWebhook = Shape<'RunEvent'>;
type QuestionWebhook = Shape<'QuestionEvent'>;

/** An event of a webhook, with its kind as `type`. */
export type WebhookEvent =
  | { [T in RunWebhook['type']]: Omit<RunWebhook, 'type'> & { type: T } }[RunWebhook['type']]
  | { [T in QuestionWebhook['type']]: Omit<QuestionWebhook, 'type'> & { type: T } }[QuestionWebhook['type']]
  | Shape<'RoutinePausedEvent'>
  | Shape<'WebhookTestEvent'>;

/** Headers of `fetch`, or an object of names and values, as in Node.js. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignedWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<(typeof NAMES)[number] | 'content-type', string>>;
}

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Returns the event of a webhook that was signed within the last five minutes with the secret, or with one of several.
 * @param rawBody the body as it arrived, not parsed and written again
 * @param options.exactNumbers returns each number that JavaScript would round as an `ExactNumber`
 * @throws {WebhookVerificationError}
 * @throws {TypeError} for a parsed body
 */
function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { exactNumbers = false }: { readonly exactNumbers?: boolean } = {},
): WebhookEvent {
  if (typeof rawBody !== 'string' && !ArrayBuffer.isView(rawBody)) {
    throw new TypeError(
      'Give the raw body of the request, as text or bytes: it is signed as it was sent, before parsing.',
    );
  }
  const body = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  const given = signatureHeaders(headers);
  let refusal: unknown;
  for (const secret of [secrets].flat()) {
    try {
      const event = new Webhook(secret).verify(body, given);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signed by the service
      return (exactNumbers ? parseExact(body) : event) as WebhookEvent;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
    }
  }
  const { message } = refusal instanceof Refusal ? refusal : { message: 'There is no secret.' };
  throw new WebhookVerificationError(message, { cause: refusal });
}

function signatureHeaders(headers: WebhookHeaders): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const given = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(NAMES.map((name) => [name, [given.get(name) ?? ''].flat().join()]));
}

/** Signs an event as the service does, so that a receiver can be tested without it. */
function signForTest(
  event: WebhookEvent | string,
  secret: string,
  { id = 'whd_test', at = new Date() }: { readonly id?: string; readonly at?: Date } = {},
): SignedWebhook {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
  };
}

/** Verifies webhooks. A receiver needs no API key, so this works without a client. */
export const webhooks = { verify, signForTest };
