import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CALLBACK,
  newOwner,
  pollDue,
  startDevice,
  startModelFixture,
  startOAuth,
  visitModelPage,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';

const REDIRECT = 'http://localhost:1455/auth/callback';

let fixture: ModelFixture;
let ada: OwnSession;

beforeAll(async () => {
  const auth = {
    'provider-a': { requiredScopes: ['inference-api'] },
    'provider-b': { redirect: 'paste', redirectUri: REDIRECT },
  };
  fixture = await startModelFixture({ auth });
  ada = await newOwner(fixture);
});
afterAll(() => fixture.close());

function paste(address: string, session = ada.session) {
  return session.get(`${CALLBACK}?${new URLSearchParams({ address }).toString()}`);
}

test('the address at which the browser ended is pasted, and connects the account', async () => {
  const { data } = await startOAuth(ada.session);
  expect(data).toMatchObject({ redirect: 'paste', redirectUri: REDIRECT });
  const address = await visitModelPage(data.authorizationUrl);
  expect(address).toMatch(/^http:\/\/localhost:1455\/auth\/callback\?code=/);
  const answer = await paste(address);
  expect([answer.status, answer.data.status]).toEqual([200, 'ready']);
  const again = await paste(address);
  expect([again.status, again.data.id]).toEqual([200, answer.data.id]);
});

test('an address that another person has begun connects nothing', async () => {
  const eve = await newOwner(fixture);
  const { data } = await startOAuth(eve.session);
  const address = await visitModelPage(data.authorizationUrl);
  const answer = await paste(address);
  expect([answer.status, answer.body.error.code]).toEqual([409, 'attempt_expired']);
});

test.for([
  'localhost:1455/auth/callback?code=x&state=y',
  REDIRECT,
  `${REDIRECT}?code=x`,
  `${REDIRECT}?state=${'x'.repeat(300)}`,
])('%s is not the whole address', async (address) => {
  const answer = await paste(address);
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toMatch(/^address: /);
});

test('a sign-in without a scope that is needed stores nothing, and its tokens are handed back', async () => {
  const { control } = fixture.authorizationServer;
  control.revocationRequests.length = 0;
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  await control.answerDevice(userCode, 'approve');
  const { data } = await pollDue(fixture, ada.session, attemptId);
  expect(data).toMatchObject({
    state: 'failed',
    connectionId: null,
    error: { code: 'scopes_missing' },
  });
  const { data: accounts } = await ada.session.get('/v1/model-connections');
  expect(accounts.filter(({ provider }: { provider: string }) => provider === 'provider-a')).toEqual([]);
  await expect.poll(() => control.revocationRequests).toEqual(['refresh_token']);
});
