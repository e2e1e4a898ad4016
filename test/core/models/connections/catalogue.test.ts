import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createModelCredentials } from '#core/models/connections/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { proves } from '#test/support/proves.ts';
import {
  connectByDevice,
  connectionOf,
  connectWithKey,
  goodKey,
  newOwner,
  revoke,
  startModelFixture,
  storedRow,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';
import { EVERY, ago, ahead, changeAccounts } from '#test/support/given.ts';

let fixture: ModelFixture;
let ada: OwnSession;
let id: string;

beforeAll(async () => {
  fixture = await startModelFixture();
});
beforeEach(async () => {
  // The catalogues of other tests must not be refreshed here.
  const { database } = fixture.service.deps;
  await changeAccounts(database, EVERY, { catalogueFreshUntil: ahead('1 day') });
  ada = await newOwner(fixture);
  id = (await connectByDevice(fixture, ada.session)).id;
  fixture.providers.control.reset();
  fixture.authorizationServer.control.tokenRequests.length = 0;
});
afterAll(() => fixture.close());

const signal = new AbortController().signal;

/** Runs a round of the background refresh, as another process does; returns the number of attempts. */
function refresh(): Promise<number> {
  const { deps } = fixture.service;
  return createTickParts({ ...deps, modelCredentials: createModelCredentials(deps) }).catalogues(signal);
}

/** Lets a fresh or postponed catalogue become due. */
async function makeStale(...ids: string[]): Promise<void> {
  await changeAccounts(fixture.service.deps.database, ids, {
    catalogueFreshUntil: ago('1 second'),
    catalogueLeasedUntil: null,
  });
}

async function modelsOf(connectionId = id): Promise<string[]> {
  const { data } = await ada.session.get(`/v1/model-connections/${connectionId}/models`);
  return data.map(({ modelId }: { modelId: string }) => modelId);
}

/** Sets the provider's next list. */
function offer(...ids: string[]): void {
  const data = ids.map((each) => ({ id: each, display_name: each, chat: true, context: 8_000 }));
  fixture.providers.control.answer('/models', 200, { data, has_more: false });
}

function lists(): number {
  return fixture.providers.control.requests().filter(({ target }) => target.startsWith('/models')).length;
}

/** Returns the minutes until the time in a column. */
async function minutesUntil(column: 'catalogue_fresh_until' | 'catalogue_leased_until') {
  const at = (await storedRow(fixture, id))[column] as Date;
  return Math.round((at.getTime() - Date.now()) / 60_000);
}

test(
  'a catalogue is fresh for a quarter of an hour, and then what the provider offers by now',
  proves('GET /v1/model-connections/:connectionId/models', 'GET /v1/models'),
  async () => {
    offer('fixture/newer');
    expect(await refresh()).toBe(0);
    expect(lists()).toBe(0);
    expect(await minutesUntil('catalogue_fresh_until')).toBe(15);
    await makeStale(id);
    expect(await refresh()).toBe(1);
    expect(await modelsOf()).toEqual(['fixture/newer']);
    expect(await minutesUntil('catalogue_fresh_until')).toBe(15);
    const { data } = await ada.session.get('/v1/models');
    const offered = data.filter((each: { connectionId: string }) => each.connectionId === id);
    expect(offered).toMatchObject([{ provider: 'provider-a', modelId: 'fixture/newer' }]);
    expect(await connectionOf(ada.session, id)).toMatchObject({ modelCount: 1 });
    expect(await refresh()).toBe(0);
    expect(lists()).toBe(1);
  },
);

test('a tick refreshes it, and a list of models does not wait for the provider', async () => {
  await makeStale(id);
  offer('fixture/by-tick');
  expect(await modelsOf()).toContain('fixture/account-small');
  expect(lists()).toBe(0);
  await createTickParts(fixture.service.deps).catalogues(signal);
  expect(await modelsOf()).toEqual(['fixture/by-tick']);
});

test('twenty processes that find it stale ask the provider once', async () => {
  await makeStale(id);
  offer('fixture/once');
  const fetched = await Promise.all(Array.from({ length: 20 }, () => refresh()));
  expect(fetched.reduce((sum, each) => sum + each, 0)).toBe(1);
  expect(lists()).toBe(1);
});

test('a list that cannot be had leaves the last one, and is asked for again five minutes later', async () => {
  const before = await modelsOf();
  await makeStale(id);
  fixture.providers.control.answer('/models', 500, {});
  expect(await refresh()).toBe(1);
  expect(await modelsOf()).toEqual(before);
  expect(await minutesUntil('catalogue_leased_until')).toBe(5);
  expect(await refresh()).toBe(0);
  expect(lists()).toBe(1);
  await makeStale(id);
  offer('fixture/later');
  expect(await refresh()).toBe(1);
  expect(await modelsOf()).toEqual(['fixture/later']);
});

test('an account whose renewed token is refused too has to be connected again', async () => {
  await makeStale(id);
  const { control } = fixture.authorizationServer;
  await control.revokeAccessTokens();
  const held = control.holdNextToken('after');
  const refreshed = refresh();
  await held.arrived;
  await control.revokeAccessTokens();
  held.release();
  expect(await refreshed).toBe(1);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual(['refresh_token']);
  expect(await connectionOf(ada.session, id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'authorization_revoked' },
  });
});

test('a token that is refused is renewed once for it; an account without another has no models any more', async () => {
  await makeStale(id);
  await fixture.authorizationServer.control.revokeAccessTokens();
  expect(await refresh()).toBe(1);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual(['refresh_token']);
  expect(await modelsOf()).toContain('fixture/account-small');

  const key = goodKey(fixture);
  const keyed = (await connectWithKey(ada.session, key)).data;
  await makeStale(keyed.id);
  fixture.providers.control.credentials.delete(key);
  expect(await refresh()).toBe(1);
  expect(await connectionOf(ada.session, keyed.id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'credential_rejected' },
    modelCount: 0,
  });
  expect(JSON.stringify((await ada.session.get('/v1/models')).data)).not.toContain(keyed.id);
});

test('accounts that cannot be used are passed over', async () => {
  const other = await connectByDevice(fixture, ada.session);
  await makeStale(id, other.id);
  await revoke(ada.session, id);
  const { deps } = fixture.service;
  await changeAccounts(deps.database, other.id, { ownerId: 'gone' });
  fixture.providers.control.reset();
  expect(await refresh()).toBe(0);
  expect(lists()).toBe(0);
});

test('an account whose credential cannot be opened holds up no other', async () => {
  const others = await Promise.all(Array.from({ length: 3 }, () => connectWithKey(ada.session, goodKey(fixture))));
  await makeStale(id, ...others.map(({ data }) => data.id));
  await changeAccounts(fixture.service.deps.database, id, {
    credential: 'v1.00000000.unknown',
    catalogueFreshUntil: null,
  });
  expect(await refresh()).toBe(4);
  for (const { data } of others) expect(await modelsOf(data.id)).not.toEqual([]);
  expect(await minutesUntil('catalogue_leased_until')).toBe(5);
  expect(await refresh()).toBe(0);
});
