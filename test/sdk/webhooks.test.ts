import { expect, test } from 'vitest';
import { EVENT_TYPES, TEST_EVENT } from '#core/delivery/webhooks/index.ts';
import { generateWebhookSecret } from '#core/authoring/routines/webhook.ts';
import { ExactNumber, type WebhookEvent, webhooks, WebhookVerificationError } from '../../sdk/src/index.ts';

const secret = generateWebhookSecret();

const EVENT: WebhookEvent = {
  type: 'routine.paused',
  timestamp: '2026-11-25T07:00:00.000Z',
  data: {
    routineId: 'rtn_1',
    projectId: 'prj_1',
    name: 'Räport 👍',
    state: 'paused',
    reason: 'It failed three times in a row.',
    runId: null,
  },
};

test('each event that the service sends is a type of its own', () => {
  const types: readonly WebhookEvent['type'][] = [...EVENT_TYPES, TEST_EVENT];
  for (const type of types) {
    const { body, headers } = webhooks.signForTest(JSON.stringify({ type, data: {} }), secret);
    expect(webhooks.verify(body, headers, secret).type).toBe(type);
  }
  // The type of the data follows from the type of the event.
  const toolOf = (event: WebhookEvent) => (event.type === 'action.held' ? event.data.toolName : undefined);
  expect(toolOf(EVENT)).toBeUndefined();
});

test('what is signed for a test is verified, as text or as bytes', () => {
  const { body, headers } = webhooks.signForTest(EVENT, secret);
  expect(webhooks.verify(body, headers, secret)).toEqual(EVENT);
  expect(webhooks.verify(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(EVENT);
  const others = [generateWebhookSecret(), secret];
  expect(webhooks.verify(body, headers, others)).toEqual(EVENT);
});

const signed = webhooks.signForTest(EVENT, secret);

test.each([
  ['another body', { ...signed, body: signed.body.replace('three', 'four') }, secret],
  ['another id', { ...signed, headers: { ...signed.headers, 'webhook-id': 'whd_2' } }, secret],
  ['no signature', { ...signed, headers: { 'webhook-id': 'whd_1' } }, secret],
  ['another secret', signed, generateWebhookSecret()],
  ['no secret', signed, []],
  ['an old signature', signedIn(-6), secret],
  ['a signature of the future', signedIn(6), secret],
])('%s is refused', (_, { body, headers }, secrets) => {
  expect(() => webhooks.verify(body, headers, secrets)).toThrow(WebhookVerificationError);
});

function signedIn(minutes: number) {
  return webhooks.signForTest(EVENT, secret, { at: new Date(Date.now() + minutes * 60_000) });
}

test('numbers that JavaScript would round keep their digits where that is asked for', () => {
  const text = '{"type":"run.succeeded","data":{"data":[12345678901234567890,1.5]}}';
  const { body, headers } = webhooks.signForTest(text, secret);
  const event = webhooks.verify(body, headers, secret, { exactNumbers: true });
  expect(event.data).toMatchObject({ data: [new ExactNumber('12345678901234567890'), 1.5] });
  expect(JSON.stringify(event)).toBe(text);
  expect(webhooks.verify(body, headers, secret).data).toMatchObject({ data: [12345678901234567000, 1.5] });
});

test('a body that was parsed is refused with the reason', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mistake that programs without types make
  const parsed = { type: 'routine.paused' } as unknown as string;
  expect(() => webhooks.verify(parsed, {}, 'whsec_c2VjcmV0')).toThrow('Give the raw body of the request');
});
