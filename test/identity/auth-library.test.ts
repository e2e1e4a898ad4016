import { scryptSync } from 'node:crypto';
import { getMigrations } from 'better-auth/db/migration';
import { expect } from 'vitest';
import {
  authOptions,
  CLIENT_ADDRESS_HEADER,
  createAuth,
  type AuthSettings,
} from '#core/identity/index.ts';
import { row, sql } from '#lib/database/index.ts';
import { ageCounts } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { PASSWORD, postAuth, signUp } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest({ own: true, slowPasswords: true })
  .extend('signIn', ({ service }) => (headers: Record<string, string>) => {
    return service.anonymous
      .with({ Origin: service.config.UI_ORIGIN, ...headers })
      .post('/auth/sign-in/email', { email: 'ada@example.com', password: 'wrong-password' });
  })
  /** Guesses until the response is not 401, at most thirty times: three in ten seconds are allowed. */
  .extend(
    'guess',
    ({ signIn }) =>
      async (headers: (index: number) => Record<string, string>): Promise<number[]> => {
        const statuses: number[] = [];
        for (let index = 0; index < 30 && (statuses.at(-1) ?? 401) === 401; index++) {
          statuses.push((await signIn(headers(index))).status);
        }
        return statuses;
      },
  );

function settingsOf({ config, deps }: Service): AuthSettings {
  return {
    database: deps.database,
    publicUrl: config.PUBLIC_URL,
    uiOrigin: config.UI_ORIGIN,
    secret: config.BETTER_AUTH_SECRET,
    secrets: deps.secrets,
    productTag: config.PRODUCT_TAG,
    signUp: 'open',
    maxOrganizations: config.MAX_ORGANIZATIONS_PER_PERSON,
    mails: undefined,
    membershipEnded: async () => ({ connections: [] }),
  };
}

test('our migrations give the authentication library every table and column it expects', async ({
  service,
}) => {
  const options = authOptions(settingsOf(service));
  const { toBeCreated, toBeAdded } = await getMigrations(options);
  expect({ toBeCreated, toBeAdded }).toEqual({ toBeCreated: [], toBeAdded: [] });
});

test('a drift would be found: a column that only the library knows has to be added', async ({
  service,
}) => {
  const options = authOptions(settingsOf(service));
  const { toBeAdded } = await getMigrations({
    ...options,
    user: { ...options.user, additionalFields: { nickname: { type: 'string', required: false } } },
  });
  expect(toBeAdded.map(({ table, fields }) => [table, Object.keys(fields)])).toEqual([
    ['users', ['nickname']],
  ]);
});

test('guesses of one address are limited, and another address is not', async ({
  signIn,
  guess,
}) => {
  // What the caller writes further left does not make it another address.
  const statuses = await guess((index) => ({
    'X-Forwarded-For': `198.51.100.${index}, 203.0.113.7`,
  }));
  expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  expect((await signIn({ 'X-Forwarded-For': '203.0.113.8' })).status).toBe(401);
});

test('a header that names an address for the library is dropped', async ({ guess }) => {
  const statuses = await guess((index) => ({
    'X-Client-Address': `198.51.100.${index}`,
    'X-Forwarded-For': '203.0.113.20',
  }));
  expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
});

test('the password is stored as a slow salted hash and the session cookie cannot be read by scripts', async ({
  service,
}) => {
  await signUp(service, 'eve@example.com');
  const response = await postAuth(service, '/auth/sign-in/email', {
    email: 'eve@example.com',
    password: PASSWORD,
  });
  expect(await response.text()).not.toContain('token');
  const [cookie] = response.headers.getSetCookie();
  expect(cookie).toMatch(/^ras\.session_token=/);
  expect(cookie).toMatch(/HttpOnly/i);
  expect(cookie).toMatch(/SameSite=Lax/i);
  const stored = await row<{ password: string }>(
    service.deps.database,
    sql`select a.password from accounts a join users u on u.id = a.user_id where u.email = 'eve@example.com'`,
  );
  const [salt = '', hash] = stored!.password.split(':');
  expect(salt).toMatch(/^[0-9a-f]{32}$/);
  const slow = scryptSync(PASSWORD, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 });
  expect(hash).toBe(slow.toString('hex'));
});

test('two passwords are hashed at a time, twenty wait, and who comes then is told to come back', async ({
  service,
}) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let atATime = 0;
  let most = 0;
  const hold = async () => {
    most = Math.max(most, (atATime += 1));
    await held;
    atATime -= 1;
  };
  const auth = createAuth({
    ...settingsOf(service),
    passwords: {
      hash: async () => hold().then(() => 'x'),
      verify: async () => hold().then(() => false),
    },
  });
  const signIn = (email: string, network: number) =>
    auth.handler(
      new Request(`${service.config.PUBLIC_URL}/auth/sign-in/email`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Origin: service.config.UI_ORIGIN,
          [CLIENT_ADDRESS_HEADER]: `198.51.100.${network}`,
        },
        body: JSON.stringify({ email, password: 'wrong-password' }),
      }),
    );
  const ended: number[] = [];
  const signIns = Array.from({ length: 30 }, async (_, index) => {
    const response = await signIn(`${index}@example.com`, index);
    ended.push(response.status);
    return response;
  });
  await expect.poll(() => ended).toEqual(Array.from({ length: 8 }, () => 503));
  // An attempt that was not looked at is none: more of them than there may be.
  for (let time = 0; time < 12; time += 1) {
    await ageCounts(service.deps.database, 'sign-in-of-network', '10 seconds');
    const response = await signIn('grace@example.com', 200);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  }
  release();
  const statuses = (await Promise.all(signIns)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(22);
  expect(most).toBe(2);
});

test('a new password that cannot be hashed at the moment leaves its token as it was', async ({
  service,
}) => {
  const { email } = await signUp(service);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const mailed: string[] = [];
  const silent = async (): Promise<void> => undefined;
  const auth = createAuth({
    ...settingsOf(service),
    mails: {
      passwordReset: async (_to, token) => void mailed.push(token),
      verification: silent,
      changeOfAddress: silent,
      accountExists: silent,
      factorEvent: silent,
    },
    passwords: { hash: () => held.then(() => 'x'), verify: () => held.then(() => false) },
  });
  const post = (path: string, body: object, network: number) =>
    auth.handler(
      new Request(`${service.config.PUBLIC_URL}/auth${path}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Origin: service.config.UI_ORIGIN,
          [CLIENT_ADDRESS_HEADER]: `203.0.113.${network}`,
        },
        body: JSON.stringify(body),
      }),
    );
  await post('/request-password-reset', { email }, 250);
  const reset = () =>
    post('/reset-password', { newPassword: 'another-long-password', token: mailed[0] }, 250);
  let refused = 0;
  const crowd = Array.from({ length: 23 }, async (_, index) => {
    const body = { email: `${index}@example.org`, password: 'wrong-password' };
    if ((await post('/sign-in/email', body, index)).status === 503) refused += 1;
  });
  await expect.poll(() => refused).toBe(1);
  expect((await reset()).status).toBe(503);
  release();
  await Promise.all(crowd);
  expect((await reset()).status).toBe(200);
  expect((await reset()).status).toBe(400);
});
