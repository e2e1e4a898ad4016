import { createHash, randomBytes } from 'node:crypto';
import { CompactEncrypt, CompactSign } from 'jose';
import { describe, expect, test } from 'vitest';
import { envelopeKeys, MAX_ENVELOPE_BYTES, openRequest, sealRequest, type RequestToSeal } from '#lib/envelope/index.ts';
import { INSTANCE, keys, sampleRequest } from './sample.ts';
import { sized } from '#test/support/properties.ts';

const refused = { name: 'EnvelopeError', message: 'The envelope is not accepted.' };

async function outcomeOf(envelope: string, now = Date.now()): Promise<string> {
  return openRequest(envelope, keys, { instanceId: INSTANCE, now }).then(
    () => 'opened',
    (error: unknown) => JSON.stringify([(error as Error).name, (error as Error).message, (error as Error).cause]),
  );
}

test('an envelope opens as what was sealed', async () => {
  const request = sampleRequest();
  const { envelope, digest } = await sealRequest(request, keys);
  const opened = await openRequest(envelope, keys, { instanceId: INSTANCE });
  expect(opened.body).toEqual(request.body);
  expect(opened.credential).toEqual(request.credential);
  expect(opened.claims).toMatchObject({ ...request.claims, version: 1 });
  expect(opened.claims.expiresAt - opened.claims.issuedAt).toBe(60);
  expect(opened.claims.bodyHash).toBe(createHash('sha256').update(JSON.stringify(request.body)).digest('hex'));
  expect(opened.digest).toEqual(digest);
  expect(envelope).not.toContain(Buffer.from('sk-secret').toString('base64url'));
});

const FLIPS = sized(10_000);

test('envelopes with one flipped bit are all refused, with one response', async () => {
  const { envelope } = await sealRequest(sampleRequest(), keys);
  const bytes = Buffer.from(envelope, 'latin1');
  const bits = bytes.length * 8;
  // Places spread over the whole text hit every part and every field. The ends have the low bits of each part.
  const ends = [...envelope.matchAll(/.(?=\.|$)/g)].flatMap(({ index }) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => index * 8 + bit),
  );
  const chosen = new Set([...ends, ...Array.from({ length: FLIPS }, (_, n) => Math.floor((n * bits) / FLIPS))]);
  const outcomes = new Map<string, number>();
  for (const bit of chosen) {
    const mutant = Buffer.from(bytes);
    mutant[bit >> 3]! ^= 1 << (bit & 7);
    const outcome = await outcomeOf(mutant.toString('latin1'));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect(chosen.size).toBeGreaterThanOrEqual(FLIPS);
  expect([...outcomes]).toEqual([
    [JSON.stringify(['EnvelopeError', 'The envelope is not accepted.', undefined]), chosen.size],
  ]);
  expect(await outcomeOf(envelope)).toBe('opened');
});

test('parts that are missing, swapped, doubled or added are refused', async () => {
  const { envelope } = await sealRequest(sampleRequest(), keys);
  const another = sampleRequest({ requestId: 'run_1/0/1' });
  const other = (await sealRequest(another, keys)).envelope.split('.');
  const parts = envelope.split('.');
  const mutants = [
    '',
    '....',
    envelope.slice(0, -1),
    `${envelope}A`,
    `${envelope}=`,
    `${envelope}\n`,
    ` ${envelope}`,
    `${envelope}.`,
    [parts[0], 'AAAA', ...parts.slice(2)].join('.'),
    parts.toReversed().join('.'),
    ...parts.map((_, n) => parts.filter((_part, each) => each !== n).join('.')),
    ...[0, 2, 3, 4].map((n) => parts.map((part, each) => (each === n ? other[n] : part)).join('.')),
  ];
  for (const mutant of mutants) expect(await outcomeOf(mutant)).not.toBe('opened');
});

describe('an envelope is refused', () => {
  test('60 seconds of skew after its 60 seconds are over, and as early', async () => {
    const now = 1_800_000_000_000;
    const { envelope } = await sealRequest(sampleRequest(), keys, now);
    expect(await outcomeOf(envelope, now)).toBe('opened');
    expect(await outcomeOf(envelope, now + 119_000)).toBe('opened');
    expect(await outcomeOf(envelope, now + 121_000)).not.toBe('opened');
    expect(await outcomeOf(envelope, now - 59_000)).toBe('opened');
    expect(await outcomeOf(envelope, now - 61_000)).not.toBe('opened');
  });

  test('when it is for another instance, or for any and not a hello', async () => {
    for (const claims of [{ audience: 'runtime-2' }, { audience: 'any' }]) {
      const { envelope } = await sealRequest(sampleRequest(claims), keys);
      expect(await outcomeOf(envelope)).not.toBe('opened');
    }
    const hello = sampleRequest({ audience: 'any', purpose: 'hello' });
    expect(await outcomeOf((await sealRequest(hello, keys)).envelope)).toBe('opened');
  });

  test('when it was made with another secret', async () => {
    const others = envelopeKeys(randomBytes(32).toString('base64'));
    const { envelope } = await sealRequest(sampleRequest(), others);
    await expect(openRequest(envelope, keys, { instanceId: INSTANCE })).rejects.toMatchObject(refused);
  });

  test.each([
    ['a header that says another purpose', { header: { purpose: 'cancel' } }],
    ['a header that says another epoch', { header: { epoch: 4 } }],
    ['a header that says another request', { header: { jti: 'run_1/0/1' } }],
    ['a header with a field more', { header: { extra: 1 } }],
    ['a header that lives longer', { header: { exp: Math.floor(Date.now() / 1000) + 110 } }],
    ['claims that live longer', { claims: { expiresAt: Math.floor(Date.now() / 1000) + 110 } }],
    ['another body than was hashed', { body: '{"modelId":"other"}' }],
    ['a body that is no JSON', { body: 'no' }],
    ['a claim more', { claims: { admin: true } }],
    ['another version', { claims: { version: 2 } }],
    ['an unsigned inside', { sign: 'none' }],
    ['an inside signed with the key of encryption', { sign: 'wrong-key' }],
    ['another key algorithm', { header: { alg: 'A256KW' } }],
  ])('with %s, though its seal is good', async (_name, change) => {
    expect(await outcomeOf(await forge({}))).toBe('opened');
    expect(await outcomeOf(await forge(change))).not.toBe('opened');
  });

  test('when it is larger than allowed, without being opened', async () => {
    expect(await outcomeOf('A'.repeat(MAX_ENVELOPE_BYTES + 1))).not.toBe('opened');
    const request = { ...sampleRequest(), body: 'x'.repeat(5 * 1024 * 1024) };
    await expect(sealRequest(request, keys)).rejects.toThrow(RangeError);
  });
});

interface Forgery {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly body?: string;
  readonly sign?: string;
}

/** Seals a request that `sealRequest` would never make, with the right keys. */
async function forge({ header, claims, body, sign }: Forgery): Promise<string> {
  const request: RequestToSeal = sampleRequest();
  const text = JSON.stringify(request.body);
  const now = Math.floor(Date.now() / 1_000);
  const inside = {
    ...request.claims,
    version: 1,
    issuedAt: now,
    expiresAt: now + 60,
    bodyHash: createHash('sha256').update(text).digest('hex'),
    ...claims,
  };
  const payload = Buffer.from(JSON.stringify({ claims: inside, body: body ?? text, credential: request.credential }));
  const key = sign === 'wrong-key' ? keys.request.encrypt : keys.request.sign;
  const signed =
    sign === 'none'
      ? `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload.toString('base64url')}.`
      : await new CompactSign(payload).setProtectedHeader({ alg: 'HS256' }).sign(key);
  const outer = {
    typ: 'ras-envelope',
    ver: inside.version,
    iss: inside.issuer,
    aud: inside.audience,
    jti: inside.requestId,
    iat: inside.issuedAt,
    exp: inside.expiresAt,
    epoch: inside.epoch,
    purpose: inside.purpose,
    alg: 'dir',
    enc: 'A256GCM',
    ...header,
  };
  return new CompactEncrypt(Buffer.from(signed)).setProtectedHeader(outer).encrypt(keys.request.encrypt);
}
