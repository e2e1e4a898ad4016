import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { proves } from '#test/support/proves.ts';
import {
  ada,
  connectByDevice,
  connectByOAuth,
  connectionOf,
  connectWithKey,
  fixture,
  goodKey,
  pollDevice,
  revoke,
  startDevice,
  startOAuth,
  useModelFixture,
} from './fixture.ts';

useModelFixture();

/** Returns the person's session at another API process with the same database. */
async function replicaWith(overrides: Record<string, string>): Promise<ApiClient> {
  const replica = await fixture.service.replica(overrides);
  onTestFinished(() => replica.close());
  const { headers } = ada.session;
  return new (ada.session.constructor as typeof ApiClient)(replica.url, headers);
}

const OFF = {
  MODEL_PROVIDER_A_ENABLED: 'false',
  MODEL_PROVIDER_B_ENABLED: 'false',
  MODEL_PROVIDER_C_ENABLED: 'false',
};

test(
  'there are four descriptors, which say whether the caller can connect',
  proves('GET /v1/model-connections/providers', 'GET /v1/model-connections/provider-c'),
  async () => {
    const { status, data } = await ada.session.get('/v1/model-connections/providers');
    expect(status).toBe(200);
    const viewer = { kind: 'session', userId: ada.person.userId, canConnect: true, reason: null };
    const terms = { page: 'https://example.com/terms', thirdPartyUse: 'allowed' };
    expect(data).toMatchObject([
      {
        provider: 'gateway',
        enabled: true,
        authType: 'managed',
        viewer: { canConnect: false, reason: { code: 'managed' } },
      },
      {
        provider: 'provider-a',
        enabled: true,
        authType: 'device_code',
        billing: 'subscription',
        terms,
        viewer,
      },
      {
        provider: 'provider-b',
        enabled: true,
        authType: 'oauth',
        billing: 'subscription',
        terms,
        viewer,
      },
      {
        provider: 'provider-c',
        enabled: true,
        authType: 'api_key',
        billing: 'usage',
        terms,
        viewer,
      },
    ]);
    const key = await ada.person.key(['connections:read']);
    const seen = await key.get('/v1/model-connections/provider-c');
    expect(seen.data).toMatchObject({
      provider: 'provider-c',
      enabled: true,
      keyPage: 'https://example.com/keys',
      viewer: {
        kind: 'api_key',
        userId: null,
        canConnect: false,
        reason: { code: 'session_required' },
      },
    });
    const unscoped = await (await ada.person.key(['runs:read'])).get('/v1/model-connections/providers');
    expect([unscoped.status, unscoped.body.error.code]).toEqual([403, 'insufficient_scope']);
  },
);

test('a provider that is switched off hides its accounts at once, and brings them back', async () => {
  const device = await connectByDevice(fixture, ada.session);
  const keyed = (await connectWithKey(ada.session, goodKey(fixture))).data;
  const off = await replicaWith({ MODEL_PROVIDER_A_ENABLED: 'false' });
  expect(await connectionOf(off, device.id)).toMatchObject({
    status: 'provider_disabled',
    error: { code: 'provider_disabled' },
    modelCount: 0,
  });
  const models = await off.get(`/v1/model-connections/${device.id}/models`);
  expect([models.status, models.body.error.code]).toEqual([403, 'provider_disabled']);
  const started = await startDevice(off);
  expect([started.status, started.body.error.code]).toEqual([403, 'provider_disabled']);
  // The flag of one provider does not affect another.
  expect((await connectionOf(off, keyed.id)).status).toBe('ready');
  expect((await startOAuth(off)).status).toBe(200);
  const descriptors = (await off.get('/v1/model-connections/providers')).data;
  expect(descriptors.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([true, false, true, true]);
  expect(descriptors[1].viewer).toMatchObject({
    canConnect: false,
    reason: { code: 'provider_disabled' },
  });
  expect(await connectionOf(ada.session, device.id)).toMatchObject({
    status: 'ready',
    modelCount: 3,
  });
});

test('an account of a provider that is off can be revoked; the provider is told when it is back', async () => {
  const { control } = fixture.authorizationServer;
  const device = await connectByDevice(fixture, ada.session);
  const off = await replicaWith(OFF);
  control.revocationRequests.length = 0;
  const revoked = await revoke(off, device.id);
  expect([revoked.status, revoked.data.revocation.providerRevocation]).toEqual([200, 'pending']);
  expect(control.revocationRequests).toEqual([]);
});

test('with no provider at all, descriptors and lists are there, and nothing can be begun', async () => {
  const none = await replicaWith({ ...OFF, MODEL_RUNTIME_URL: '' });
  expect((await none.get('/v1/model-connections')).data).toEqual([]);
  for (const answer of [await startDevice(none), await startOAuth(none), await connectWithKey(none, 'sk-0123456789')]) {
    expect([answer.status, answer.body.error.code]).toEqual([403, 'provider_disabled']);
  }
});

test('a message says that the runtime is away, and an attempt waits for it', async () => {
  const { data } = await startDevice(ada.session);
  const away = await replicaWith({ MODEL_RUNTIME_URL: `https://127.0.0.1:${await freePort()}` });
  for (const answer of [
    await startDevice(away),
    await startOAuth(away),
    await connectWithKey(away, 'sk-0123456789'),
    await pollDevice(away, data.attemptId),
  ]) {
    expect([answer.status, answer.body.error.code]).toEqual([503, 'runtime_unavailable']);
  }
  const [, described] = (await away.get('/v1/model-connections/providers')).data;
  expect(described).toMatchObject({
    enabled: true,
    viewer: { canConnect: false, reason: { code: 'runtime_unavailable' } },
  });
  expect((await pollDevice(ada.session, data.attemptId)).data.state).toBe('pending');
});

/** Changes a slot's file for another API process. */
function changedFile(slot: 'A' | 'B' | 'C', change: (text: string) => string) {
  const text = change(readFileSync(fixture.rig.env[`MODEL_PROVIDER_${slot}_FILE`]!, 'utf8'));
  const file = path.join(fixture.rig.folder, `${slot}-${createHash('sha256').update(text).digest('hex')}.yaml`);
  writeFileSync(file, text);
  return { [`MODEL_PROVIDER_${slot}_FILE`]: file };
}

test('a file that differs between API and runtime is a provider that is disabled, and is said so', async () => {
  const other = await replicaWith(changedFile('C', (text) => text.replace('Fixture', 'Another')));
  const answer = await connectWithKey(other, goodKey(fixture));
  expect([answer.status, answer.body.error.code]).toEqual([403, 'provider_disabled']);
  const described = await other.get('/v1/model-connections/provider-c');
  expect(described.data).toMatchObject({
    enabled: false,
    viewer: { canConnect: false, reason: { code: 'provider_mismatch' } },
  });
});

test('a provider that is off on the runtime only is disabled, and no other with it', async () => {
  const state = path.join(fixture.rig.folder, 'state-of-another');
  const other = await fixture.rig.start({
    MODEL_PROVIDER_C_ENABLED: 'false',
    MODEL_RUNTIME_STATE_DIR: state,
  });
  const there = await replicaWith({ MODEL_RUNTIME_URL: `https://127.0.0.1:${other.port}` });
  const answer = await connectWithKey(there, goodKey(fixture));
  expect([answer.status, answer.body.error.code]).toEqual([403, 'provider_disabled']);
  expect((await startDevice(there)).status).toBe(201);
  const { data } = await there.get('/v1/model-connections/providers');
  expect(data.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([true, true, true, false]);
  expect(data[3].viewer.reason.code).toBe('provider_disabled');
});

test('an account is not used at another provider that has taken the place of its own', async () => {
  const { data } = await connectByOAuth(fixture, ada.session);
  const moved = await replicaWith(
    changedFile('B', (text) => text.replace(/baseUrl: .*/, 'baseUrl: http://127.0.0.1:9/v1')),
  );
  expect(await connectionOf(moved, data.id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'provider_changed' },
  });
  const models = await moved.get(`/v1/model-connections/${data.id}/models`);
  expect([models.status, models.body.error.code]).toEqual([409, 'connection_not_ready']);
  expect((await connectionOf(ada.session, data.id)).status).toBe('ready');
});
