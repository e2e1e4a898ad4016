import { expect, test } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import {
  ada,
  connectWithKey,
  fixture,
  goodKey,
  newColleague,
  newOwner,
  startDevice,
  startOAuth,
  storedRow,
  useModelFixture,
  type OwnSession,
} from './fixture.ts';
import { plantAccounts, removeAccounts } from '#test/support/given.ts';

useModelFixture();

async function list({ session }: OwnSession = ada) {
  return (await session.get('/v1/model-connections')).data;
}

test('a key that the provider rejects is not stored, and not repeated in the error', async () => {
  const answer = await connectWithKey(ada.session, 'sk-rejected-0123456789');
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toBe('apiKey: the provider does not accept this key');
  expect(await list()).toEqual([]);
});

test.for([
  [500, 502, 'provider_error'],
  [503, 502, 'provider_error'],
  [403, 400, 'invalid_request'],
] as const)('the provider answering %i to the proof is %i %s, and nothing is stored', async ([said, status, code]) => {
  fixture.providers.control.answer('/key', said, { error: 'words of the provider' });
  const answer = await connectWithKey(ada.session, goodKey(fixture));
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  expect(answer.body.error.message).not.toContain('words of the provider');
  expect(await list()).toEqual([]);
});

test.for([
  [402, {}],
  [429, {}],
  [429, { error: { type: 'usage_limit_reached', resets_in_seconds: 7_200 } }],
] as const)('an account that is empty or busy (%i) is accepted, and said', async ([said, body]) => {
  fixture.providers.control.answer('/key', said, body);
  const { status, data } = await connectWithKey(ada.session, goodKey(fixture));
  expect(status).toBe(200);
  expect(data).toMatchObject({ status: 'ready', availableFrom: expect.any(String) });
  expect(Date.parse(data.availableFrom)).toBeGreaterThan(Date.now());
});

test('a list of models that cannot be had does not undo the connection', async () => {
  fixture.providers.control.answer('/models', 500, {});
  const { status, data } = await connectWithKey(ada.session, goodKey(fixture));
  expect([status, data.status, data.modelCount]).toEqual([200, 'ready', 0]);
});

test('the same key again is the same connection, however many send it at once', async () => {
  const key = goodKey(fixture);
  const answers = await Promise.all(Array.from({ length: 6 }, () => connectWithKey(ada.session, key)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
  const { data: another } = await connectWithKey(ada.session, goodKey(fixture));
  expect(await list()).toHaveLength(2);
  const replaced = await connectWithKey(ada.session, goodKey(fixture), {
    connectionId: another.id,
    accountLabel: 'Team key',
  });
  expect(replaced.data).toMatchObject({ id: another.id, accountLabel: 'Team key' });
  expect((await storedRow(fixture, another.id))['credential_version']).toBe(2);
  const taken = await connectWithKey(ada.session, key, { connectionId: another.id });
  expect([taken.status, taken.body.error.code]).toEqual([409, 'account_mismatch']);
});

test("a person cannot replace the key of another person's account", async () => {
  const { data } = await connectWithKey(ada.session, goodKey(fixture));
  const colleague = await newColleague(fixture, ada.person);
  const stranger = await newOwner(fixture);
  const body = { connectionId: data.id };
  const asColleague = await connectWithKey(colleague.session, goodKey(fixture), body);
  expect([asColleague.status, asColleague.body.error.code]).toEqual([403, 'owner_required']);
  const asStranger = await connectWithKey(stranger.session, goodKey(fixture), body);
  expect([asStranger.status, asStranger.body.error.code]).toEqual([404, 'connection_not_found']);
});

test.for([
  [{}, 400],
  [{ apiKey: 'short' }, 400],
  [{ apiKey: 'with space in it' }, 400],
  [{ apiKey: 'sk-line\nfeed-0123' }, 400],
  [{ apiKey: `sk-${'x'.repeat(5_000)}` }, 400],
  [{ apiKey: 'sk-0123456789', baseUrl: 'https://evil.example' }, 400],
  [{ apiKey: ['sk-0123456789'] }, 400],
  [{ apiKey: 'sk-0123456789', connectionId: 'con_x' }, 400],
] as const)('the body %j is refused before the provider hears of it', async ([body, status]) => {
  const before = fixture.providers.control.requests().length;
  const answer = await ada.session.post('/v1/model-connections/provider-c/api-key', body);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).not.toContain('sk-');
  expect(fixture.providers.control.requests()).toHaveLength(before);
});

test('a project has at most 1,000 accounts that are not revoked, however they are signed in to', async () => {
  const { projectId } = ada.person;
  const { database } = fixture.service.deps;
  const { data: own } = await connectWithKey(ada.session, goodKey(fixture));
  const [one] = await plantAccounts(database, projectId, { count: 999, credential: 'sealed' });
  await plantAccounts(database, projectId, { count: 3, state: 'revoked', revokedAt: AT_ONCE });
  const refusals = await Promise.all([
    connectWithKey(ada.session, goodKey(fixture)),
    startDevice(ada.session),
    startOAuth(ada.session),
  ]);
  expect(refusals.map(({ status, body }) => [status, body.error?.code])).toEqual(
    Array.from({ length: 3 }, () => [409, 'limit_reached']),
  );
  const again = await connectWithKey(ada.session, goodKey(fixture), { connectionId: own.id });
  expect(again.status).toBe(200);
  await removeAccounts(database, one!);
  expect((await startDevice(ada.session)).status).toBe(201);
});

test('revoked accounts stay on record, and a project has at most 10,000 with them', async () => {
  const { projectId } = ada.person;
  const { database } = fixture.service.deps;
  const revoked = { state: 'revoked', revokedAt: AT_ONCE };
  const planted = await plantAccounts(database, projectId, { count: 10_000, ...revoked });
  const { status, body } = await startDevice(ada.session);
  expect([status, body.error?.code]).toEqual([409, 'limit_reached']);
  expect(body.error?.message).toContain('revoked ones included');
  await removeAccounts(database, planted);
  expect((await startDevice(ada.session)).status).toBe(201);
});

test('a key in the address is refused', async () => {
  const answer = await ada.session.post('/v1/model-connections/provider-c/api-key?apiKey=sk-0123456789', {
    apiKey: 'sk-0123456789',
  });
  expect(answer.status).toBe(400);
});

test('a person who tries keys again and again is asked to wait', async () => {
  const statuses: number[] = [];
  for (let turn = 0; turn < 21; turn += 1) {
    statuses.push((await connectWithKey(ada.session, `sk-guess-${turn}-0123456789`)).status);
  }
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 400));
  expect(statuses.at(-1)).toBe(429);
});
