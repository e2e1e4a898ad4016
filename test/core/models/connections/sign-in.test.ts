import { afterAll, beforeAll, expect, test } from 'vitest';
import { proves } from '#test/support/proves.ts';
import {
  connectByDevice,
  connectByOAuth,
  connectWithKey,
  goodKey,
  makeDue,
  newOwner,
  pollDevice,
  pollDue,
  startDevice,
  startModelFixture,
  storedRow,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';

const MODELS = [
  { modelId: 'fixture/account-small', name: 'Account Small', contextTokens: 64_000 },
  { modelId: 'fixture/account-large', name: 'Account Large', contextTokens: 200_000 },
  { modelId: 'fixture/account-plain', name: 'fixture/account-plain', contextTokens: null },
];

let fixture: ModelFixture;
let ada: OwnSession;

beforeAll(async () => {
  fixture = await startModelFixture();
  ada = await newOwner(fixture);
});
afterAll(() => fixture.close());

test(
  'a device code connects an account, once the person has typed it in',
  proves(
    'POST /v1/model-connections/provider-a/device/start',
    'GET /v1/model-connections/provider-a/device/:attemptId',
    'GET /v1/model-connections/:connectionId/models',
  ),
  async () => {
    const started = await startDevice(ada.session);
    expect(started.status).toBe(201);
    expect(started.data).toMatchObject({
      attemptId: expect.stringMatching(/^att_/),
      state: 'pending',
      userCode: expect.stringMatching(/^\w{4}-\w{4}$/),
      verificationUri: `${fixture.authorizationServer.issuer}/device`,
      intervalSeconds: 5,
      connectionId: null,
      error: null,
    });
    expect(JSON.stringify(started.body)).not.toContain('device_code');
    const { attemptId, userCode } = started.data;
    const waiting = await pollDue(fixture, ada.session, attemptId);
    expect(waiting.data).toMatchObject({ state: 'pending', userCode });

    fixture.authorizationServer.control.account = 'ada';
    await fixture.authorizationServer.control.answerDevice(userCode, 'approve');
    const ended = await pollDue(fixture, ada.session, attemptId);
    expect(ended.data).toMatchObject({ state: 'succeeded', userCode: null, error: null });
    const { data } = await ada.session.get('/v1/model-connections');
    expect(data[0]).toMatchObject({
      id: ended.data.connectionId,
      provider: 'provider-a',
      providerName: 'Fixture provider-a',
      accountLabel: 'a…@fixture.example',
      owner: { userId: ada.person.userId, name: 'Test Person' },
      status: 'ready',
      error: null,
      modelCount: 3,
      validatedAt: expect.any(String),
      revocation: null,
    });
    const models = await ada.session.get(`/v1/model-connections/${data[0].id}/models`);
    expect(models.data).toEqual(MODELS);
  },
);

test(
  'signing in connects an account that is named by its verified ID token',
  proves('POST /v1/model-connections/provider-b/oauth/start', 'GET /v1/model-connections/provider-b/oauth/callback'),
  async () => {
    const { status, data } = await connectByOAuth(fixture, ada.session, { account: 'grace' });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      provider: 'provider-b',
      accountLabel: 'g…@fixture.example',
      status: 'ready',
      modelCount: 3,
    });
    const stored = await storedRow(fixture, data.id);
    expect(stored).toMatchObject({ account_id: 'grace', owner_id: ada.person.userId });
    expect(Number(stored['credential_expires_at']) - Date.now()).toBeGreaterThan(3_000_000);
  },
);

test(
  'a key connects an account after it was tried, and is not shown again',
  proves('POST /v1/model-connections/provider-c/api-key', 'GET /v1/model-connections'),
  async () => {
    const key = goodKey(fixture);
    const { status, data, body } = await connectWithKey(ada.session, key);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      provider: 'provider-c',
      accountLabel: `Fixture provider-c key …${key.slice(-4)}`,
      status: 'ready',
      modelCount: 3,
    });
    expect(JSON.stringify(body)).not.toContain(key);
    const asked = fixture.providers.control
      .requests()
      .filter(({ headers }) => headers['x-api-key'] === key)
      .map(({ method, target }) => `${method} ${target}`);
    // The proof costs nothing: no completion was asked for.
    expect(asked).toEqual(['GET /key', 'GET /models', 'GET /models?after_id=fixture%2Faccount-large']);
  },
);

test('three accounts side by side, of which an API key may see the list', async () => {
  const { person, session } = await newOwner(fixture);
  const device = await connectByDevice(fixture, session);
  const signedIn = await connectByOAuth(fixture, session);
  const keyed = await connectWithKey(session, goodKey(fixture));
  const key = await person.key(['connections:read', 'models:read']);
  const listed = await key.get('/v1/model-connections?limit=2');
  expect(listed.data.map(({ id }: { id: string }) => id)).toEqual([keyed.data.id, signedIn.data.id]);
  const next = /cursor=([^&>]+)/.exec(listed.headers.get('link') ?? '')?.[1];
  const rest = await key.get(`/v1/model-connections?limit=2&cursor=${next}`);
  expect(rest.data.map(({ id }: { id: string }) => id)).toEqual([device.id]);
  expect((await key.get(`/v1/model-connections/${keyed.data.id}/models`)).data).toEqual(MODELS);
});

test('no row contains credentials, codes or verifiers in clear', async () => {
  const { session } = await newOwner(fixture);
  const started = await startDevice(session);
  const key = goodKey(fixture);
  await connectWithKey(session, key);
  const signedIn = await connectByOAuth(fixture, session);
  const texts = await fixture.service.deps.database.rows<{
    text: string;
  }>`select c::text as text from model_connections c union all select s::text from model_sign_ins s`;
  const text = texts.map((each) => each.text).join('\n');
  expect(text).toContain(signedIn.data.id);
  expect(text).toContain(started.data.attemptId);
  expect(text).not.toContain(key);
  expect(text).not.toContain(started.data.userCode);
  const tokens = fixture.providers.control
    .requests()
    .map(({ headers }) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1])
    .filter((token) => token !== undefined);
  expect(tokens.length).toBeGreaterThan(0);
  for (const token of tokens) expect(text).not.toContain(token);
});

test('the provider is asked at most once an interval, however often and by how many the attempt is polled', async () => {
  const { session } = await newOwner(fixture);
  const { control } = fixture.authorizationServer;
  const { data } = await startDevice(session);
  control.tokenRequests.length = 0;
  control.tokenDelayMs = 300;
  await makeDue(fixture, data.attemptId);
  const polls = await Promise.all(Array.from({ length: 20 }, () => pollDevice(session, data.attemptId)));
  control.tokenDelayMs = 0;
  await Promise.all(Array.from({ length: 5 }, () => pollDevice(session, data.attemptId)));
  expect(new Set(polls.map((each) => each.data.state))).toEqual(new Set(['pending']));
  expect(control.tokenRequests).toHaveLength(1);
});
