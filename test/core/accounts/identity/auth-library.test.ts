import { scryptSync } from 'node:crypto';
import { getMigrations } from 'better-auth/db/migration';
import { expect } from 'vitest';
import { CLIENT_ADDRESS_HEADER, createAuth, type AuthSettings } from '#core/accounts/identity/index.ts';
import { assistantProvider } from '#core/accounts/identity/assistant-server.ts';
import { authOptions } from '#core/accounts/identity/auth-options.ts';
import { ageCounts } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { newEmail, PASSWORD, postAuth, signUp } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest({ own: true, slowPasswords: true })
  .extend('signIn', ({ service }) => (headers: Record<string, string>) => {
    return service.anonymous
      .with({ Origin: service.config.UI_ORIGIN, ...headers })
      .post('/auth/sign-in/email', { email: 'ada@example.com', password: 'wrong-password' });
  })
  /** Guesses until the response is not 401, at most thirty times. Three guesses in ten seconds are allowed. */
  .extend('guess', ({ signIn }) => async (headers: (index: number) => Record<string, string>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let index = 0; index < 30 && (statuses.at(-1) ?? 401) === 401; index++) {
      statuses.push((await signIn(headers(index))).status);
    }
    return statuses;
  });

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
    leaveOrganizations: async () => {},
    endPrograms: async () => {},
  };
}

test('our migrations give the authentication library every table and column it expects', async ({ service }) => {
  const settings = settingsOf(service);
  const plugins = [assistantProvider(settings)];
  const { toBeCreated, toBeAdded } = await getMigrations({ ...authOptions(settings), plugins });
  // We offer neither clients that are tied to resources nor clients with keys of their own.
  const unused = ['oauthClientResource', 'oauthClientAssertion'];
  expect(toBeCreated.map(({ table }) => table)).toEqual(unused);
  expect(toBeAdded).toEqual([]);
});

test('a drift would be found: a column that only the library knows has to be added', async ({ service }) => {
  const options = authOptions(settingsOf(service));
  const { toBeAdded } = await getMigrations({
    ...options,
    user: { ...options.user, additionalFields: { nickname: { type: 'string', required: false } } },
  });
  expect(toBeAdded.map(({ table, fields }) => [table, Object.keys(fields)])).toEqual([['users', ['nickname']]]);
});

test('guesses of one address are limited, and another address is not', async ({ signIn, guess }) => {
  // The caller cannot change its address by entries at the left.
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
  const stored = await service.deps.database.row<{
    password: string;
  }>`select a.password from accounts a join users u on u.id = a.user_id where u.email = 'eve@example.com'`;
  const [salt = '', hash] = stored!.password.split(':');
  expect(salt).toMatch(/^[0-9a-f]{32}$/);
  const slow = scryptSync(PASSWORD, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 });
  expect(hash).toBe(slow.toString('hex'));
});

/** Makes an authentication that checks passwords once `release` is called, and counts the checks under way. */
function holding(service: Service, settings: Partial<AuthSettings> = {}) {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const seen = { atATime: 0, most: 0, order: [] as string[] };
  async function hold<T>(what: string, result: T): Promise<T> {
    seen.order.push(what);
    seen.most = Math.max(seen.most, (seen.atATime += 1));
    await held;
    seen.atATime -= 1;
    return result;
  }
  const passwords = { hash: () => hold('new', 'x'), verify: () => hold('known', false) };
  const auth = createAuth({ ...settingsOf(service), ...settings, passwords });
  const post = (path: string, body: object, address: string, headers = {}) =>
    auth.handler(
      new Request(`${service.config.PUBLIC_URL}/auth${path}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Origin: service.config.UI_ORIGIN,
          [CLIENT_ADDRESS_HEADER]: address,
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );
  const signIn = (email: string, address: string, headers = {}) =>
    post('/sign-in/email', { email, password: 'wrong-password' }, address, headers);
  return { post, signIn, release, seen };
}

/** Lets thirty strangers sign in: two are checked, twenty wait, and eight are refused. */
async function crowdOf({ signIn }: ReturnType<typeof holding>, network: string) {
  const ended: number[] = [];
  const signIns = Array.from({ length: 30 }, async (_, index) => {
    ended.push((await signIn(newEmail(), `${network}.${index}`)).status);
  });
  await expect.poll(() => ended).toEqual(Array.from({ length: 8 }, () => 503));
  const answered = async () => {
    await Promise.all(signIns);
    return ended.filter((status) => status === 401).length;
  };
  return { ended, answered };
}

test('two passwords are hashed at a time, twenty wait, and who comes then is told to come back', async ({
  service,
}) => {
  const held = holding(service);
  const { answered } = await crowdOf(held, '198.51.100');
  // An attempt that was not checked does not count, so more attempts than the limit are possible.
  for (let time = 0; time < 12; time += 1) {
    await ageCounts(service.deps.database, 'sign-in-of-network', '10 seconds');
    const response = await held.signIn('grace@example.com', '198.51.100.200');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  }
  held.release();
  expect(await answered()).toBe(22);
  expect(held.seen.most).toBe(2);
});

test('who was signed in before in that browser goes before a crowd of strangers', async ({ service }) => {
  const people = [await signUp(service), await signUp(service), await signUp(service)];
  const held = holding(service);
  const { answered } = await crowdOf(held, '192.0.2');
  const statuses: number[] = [];
  const known = Array.from({ length: 21 }, async (_, index) => {
    const { email, session } = people[index % 3]!;
    const { Cookie = '' } = session.headers;
    statuses.push((await held.signIn(email, '192.0.2.200', { Cookie })).status);
  });
  // The strangers' line is full, so the other twenty are in it.
  await expect.poll(() => statuses).toEqual([503]);
  held.release();
  await Promise.all(known);
  expect(statuses.filter((status) => status === 401)).toHaveLength(20);
  expect(await answered()).toBe(22);
  const times = (what: string, count: number) => Array.from({ length: count }, () => what);
  expect(held.seen.order).toEqual([...times('new', 2), ...times('known', 20), ...times('new', 20)]);
});

test('a new password that cannot be hashed at the moment leaves its token as it was', async ({ service }) => {
  const { email } = await signUp(service);
  const mailed: string[] = [];
  const silent = async (): Promise<void> => undefined;
  const held = holding(service, {
    mails: {
      passwordReset: async (_to, token) => void mailed.push(token),
      verification: silent,
      changeOfAddress: silent,
      accountExists: silent,
      factorEvent: silent,
    },
  });
  // Fills the line that is served first, and adds one request.
  for (let time = 0; time < 21; time += 1) {
    await ageCounts(service.deps.database, 'auth', '1 hour');
    await held.post('/request-password-reset', { email }, '203.0.113.250');
  }
  const { answered } = await crowdOf(held, '203.0.113');
  const statuses: number[] = [];
  const resets = mailed.map(async (token, index) => {
    const body = { newPassword: 'another-long-password', token };
    const { status } = await held.post('/reset-password', body, `100.67.0.${index}`);
    statuses.push(status);
    return [token, status] as const;
  });
  await expect.poll(() => statuses).toEqual([503]);
  held.release();
  const refused = (await Promise.all(resets)).find(([, status]) => status === 503)!;
  const again = async () => {
    const body = { newPassword: 'another-long-password', token: refused[0] };
    return (await held.post('/reset-password', body, '100.67.1.1')).status;
  };
  expect([await again(), await again()]).toEqual([200, 400]);
  expect(await answered()).toBe(22);
});
