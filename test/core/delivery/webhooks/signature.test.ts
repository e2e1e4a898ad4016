import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createSealedWebhookSecrets } from '#core/authoring/routines/index.ts';
import { generateWebhookSecret } from '#core/authoring/routines/webhook.ts';
import { signedHeaders } from '#core/delivery/webhooks/attempt.ts';
import { createSecretBox } from '#lib/secrets/index.ts';

const message = { id: 'whd_1', sentAt: new Date(), body: '{"result":"ça va 👍"}' };

test('a secret is whsec_ and base64 of 32 bytes, and never the same', () => {
  const secret = generateWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(generateWebhookSecret()).not.toBe(secret);
});

test('the reference library gives the same signature and verifies ours', () => {
  const secret = generateWebhookSecret();
  const headers = signedHeaders(message, [secret]);
  const reference = new Webhook(secret);
  expect(headers['webhook-signature']).toBe(reference.sign(message.id, message.sentAt, message.body));
  expect(reference.verify(message.body, headers)).toEqual({ result: 'ça va 👍' });
});

test('another body, id, time or secret does not verify', () => {
  const secret = generateWebhookSecret();
  const headers = signedHeaders(message, [secret]);
  const reference = new Webhook(secret);
  const later = String(Number(headers['webhook-timestamp']) + 1);
  expect(() => reference.verify(`${message.body} `, headers)).toThrow('No matching signature');
  expect(() => reference.verify(message.body, { ...headers, 'webhook-id': 'whd_2' })).toThrow('No matching signature');
  expect(() => reference.verify(message.body, { ...headers, 'webhook-timestamp': later })).toThrow(
    'No matching signature',
  );
  expect(() => new Webhook(generateWebhookSecret()).verify(message.body, headers)).toThrow('No matching signature');
});

test('with two secrets, a receiver that knows either of them can verify the delivery', () => {
  const secrets = [generateWebhookSecret(), generateWebhookSecret()];
  const headers = signedHeaders(message, secrets);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(message.body, headers)).toEqual({ result: 'ça va 👍' });
  }
});

test('a sealed secret opens for its own routine only', () => {
  const box = createSecretBox({ current: Buffer.alloc(32, 1).toString('base64') });
  const secrets = createSealedWebhookSecrets(box);
  const secret = generateWebhookSecret();
  const sealed = secrets.seal('rtn_1', secret);
  expect(sealed).not.toContain(secret.slice(6));
  expect(secrets.open('rtn_1', sealed)).toBe(secret);
  expect(() => secrets.open('rtn_2', sealed)).toThrow();
});
