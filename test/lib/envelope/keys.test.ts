import { hkdfSync, webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { envelopeKeys } from '#lib/envelope/index.ts';

interface Vector {
  readonly tcId: number;
  readonly key: string;
  readonly iv: string;
  readonly aad: string;
  readonly msg: string;
  readonly ct: string;
  readonly tag: string;
  readonly result: 'valid' | 'invalid' | 'acceptable';
}

/** Test vectors of Project Wycheproof (C2SP, Apache-2.0): all with 256-bit keys, 96-bit nonces and 128-bit tags. */
const vectors = JSON.parse(
  readFileSync(new URL('./fixtures/wycheproof-aes-256-gcm.json', import.meta.url), 'utf8'),
) as Vector[];

// jose encrypts through the same interface.
async function crypt(use: 'encrypt' | 'decrypt', vector: Vector, data: string): Promise<string> {
  const raw = Buffer.from(vector.key, 'hex');
  const key = await webcrypto.subtle.importKey('raw', raw, 'AES-GCM', false, [use]);
  const result = await webcrypto.subtle[use](
    {
      name: 'AES-GCM',
      iv: Buffer.from(vector.iv, 'hex'),
      additionalData: Buffer.from(vector.aad, 'hex'),
      tagLength: 128,
    },
    key,
    Buffer.from(data, 'hex'),
  );
  return Buffer.from(result).toString('hex');
}

test('AES-256-GCM behaves as the vectors of Wycheproof say', async () => {
  expect(vectors).toHaveLength(66);
  for (const vector of vectors) {
    const opened = await crypt('decrypt', vector, vector.ct + vector.tag).catch(() => 'refused');
    const expected = vector.result === 'valid' ? vector.msg : 'refused';
    expect([vector.tcId, opened]).toEqual([vector.tcId, expected]);
    if (vector.result !== 'valid') continue;
    expect(await crypt('encrypt', vector, vector.msg)).toBe(vector.ct + vector.tag);
  }
});

test('HKDF-SHA256 gives what RFC 5869 shows (appendix A.1)', () => {
  const okm = hkdfSync(
    'sha256',
    Buffer.alloc(22, 0x0b),
    Buffer.from('000102030405060708090a0b0c', 'hex'),
    Buffer.from('f0f1f2f3f4f5f6f7f8f9', 'hex'),
    42,
  );
  expect(Buffer.from(okm).toString('hex')).toBe(
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  );
});

test('every direction and use has a key of its own, and every response', () => {
  const keys = envelopeKeys(Buffer.alloc(32, 7).toString('base64'));
  const one = keys.responseTo(Buffer.alloc(32, 1));
  const two = keys.responseTo(Buffer.alloc(32, 2));
  const all = [keys.request, one, two].flatMap(({ sign, encrypt }) => [sign, encrypt]);
  const texts = [...all, keys.store].map((key) => Buffer.from(key).toString('hex'));
  expect(new Set(texts).size).toBe(7);
  expect(() => envelopeKeys(Buffer.alloc(31).toString('base64'))).toThrow('32 bytes');
});
