import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { connectionOptions, ensureSearchAttributes, SEARCH_ATTRIBUTE_NAMES } from '#lib/temporal/index.ts';

const plain = {
  TEMPORAL_ADDRESS: 'temporal.internal:7233',
  TEMPORAL_NAMESPACE: 'routines',
  TEMPORAL_TLS: false,
};

let folder: string;
function file(name: string) {
  return path.join(folder, name);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ras-tls-'));
  for (const name of ['ca', 'crt', 'key']) await writeFile(file(name), `the ${name}`);
});
afterAll(() => rm(folder, { recursive: true }));

test('a cluster is reached plainly, by public TLS, by a private authority, mutually, or by API key', async () => {
  expect(await connectionOptions(plain)).toEqual({ address: 'temporal.internal:7233', tls: false });
  expect(await connectionOptions({ ...plain, TEMPORAL_TLS: true })).toMatchObject({ tls: true });
  expect(await connectionOptions({ ...plain, TEMPORAL_API_KEY: 'k' })).toMatchObject({
    tls: true,
    apiKey: 'k',
  });
  const authority = { ...plain, TEMPORAL_TLS_CA_FILE: file('ca') };
  expect(await connectionOptions(authority)).toMatchObject({
    tls: { serverRootCACertificate: Buffer.from('the ca') },
  });
  const pair = { TEMPORAL_TLS_CERT_FILE: file('crt'), TEMPORAL_TLS_KEY_FILE: file('key') };
  expect((await connectionOptions({ ...authority, ...pair })).tls).toEqual({
    serverRootCACertificate: Buffer.from('the ca'),
    clientCertPair: { crt: Buffer.from('the crt'), key: Buffer.from('the key') },
  });
});

test('a certificate without its key is refused rather than left out', async () => {
  const half = connectionOptions({ ...plain, TEMPORAL_TLS_CERT_FILE: file('crt') });
  await expect(half).rejects.toThrow('go together');
});

test('search attributes are registered in a namespace that lacks them, once', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const namespace = `attributes-${randomBytes(6).toString('hex')}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const { operatorService } = connection;
    // The server's parts learn of a new namespace one after the other.
    await expect
      .poll(() => ensureSearchAttributes(operatorService, namespace).catch(() => []), {
        interval: 250,
      })
      .toEqual(SEARCH_ATTRIBUTE_NAMES);
    await expect.poll(() => ensureSearchAttributes(operatorService, namespace)).toEqual([]);
  } finally {
    await connection.close();
  }
});
