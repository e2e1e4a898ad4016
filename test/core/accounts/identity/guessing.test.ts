import { expect } from 'vitest';
import { countGuess, type Guess } from '#core/accounts/identity/guesses.ts';
import { ageCounts, fillCounts } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { newEmail, PASSWORD, postAuth, signUp, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest();

const WRONG = 'wrong-password';

function signIn(
  service: Service,
  email: string,
  password: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return postAuth(service, '/auth/sign-in/email', { email, password }, headers);
}

/** Guesses one password after the other from one network, within the network's limit; returns the statuses. */
async function guessSlowly(
  service: Service,
  email: string,
  times: number,
  headers: () => Record<string, string>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) {
    statuses.push((await signIn(service, email, WRONG, headers())).status);
    await ageCounts(service.deps.database, 'sign-in-of-network', '10 seconds');
  }
  return statuses;
}

/** Guesses from a new network each time, until the account refuses strangers: two hundred guesses. */
async function exhaust(service: Service, email: string): Promise<void> {
  expect((await signIn(service, email, WRONG)).status).toBe(401);
  await fillCounts(service.deps.database, 'password-of-account', 190);
  const guesses = Array.from({ length: 15 }, (_, index) =>
    signIn(service, email, WRONG, { 'X-Forwarded-For': `100.64.${index}.1` }),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
}

function browserOf({ session }: Person): Record<string, string> {
  const cookies = (session.headers['Cookie'] ?? '').split('; ');
  const cookie = cookies.find((pair) => pair.startsWith('ras.browser_'));
  if (cookie === undefined) throw new Error('no cookie of a browser');
  return { Cookie: cookie };
}

test('ten guesses are all for one network, whether or not there is such an account, and its owner signs in from others', async ({
  service,
}) => {
  const { email } = await signUp(service);
  const stranger = { 'X-Forwarded-For': '198.18.0.1' };
  for (const address of [email, newEmail()]) {
    const statuses = await guessSlowly(service, address, 11, () => stranger);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  }
  const refused = await signIn(service, email.toUpperCase(), PASSWORD, stranger);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  expect((await signIn(service, email, PASSWORD)).status).toBe(200);
});

test('an IPv6 network of 64 bits counts as one', async ({ service }) => {
  const { email } = await signUp(service);
  let host = 0;
  const statuses = await guessSlowly(service, email, 11, () => ({
    'X-Forwarded-For': `2001:db8:77:1::${(host += 1)}`,
  }));
  expect(statuses.at(-1)).toBe(429);
});

test('a success forgets the guesses of its network', async ({ service }) => {
  const { email } = await signUp(service);
  const network = { 'X-Forwarded-For': '198.18.0.2' };
  for (let round = 0; round < 3; round += 1) {
    const statuses = await guessSlowly(service, email, 5, () => network);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await signIn(service, email, PASSWORD, network)).status).toBe(200);
  }
});

test('guesses from two hundred networks keep strangers out, and no browser that was signed in before', async ({
  service,
}) => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  await exhaust(service, ada.email);
  expect((await signIn(service, ada.email, PASSWORD)).status).toBe(429);
  // The cookie is valid for one account only, and cannot be forged.
  expect((await signIn(service, ada.email, PASSWORD, browserOf(bob))).status).toBe(429);
  const [name, value = ''] = browserOf(ada)['Cookie']!.split('=');
  const bobs = browserOf(bob)['Cookie']!.split('=')[1];
  for (const forged of [bobs, value.slice(0, -8), `${value}x`, '']) {
    const Cookie = `${name}=${forged}`;
    expect((await signIn(service, ada.email, PASSWORD, { Cookie })).status).toBe(429);
  }
  const known = await signIn(service, ada.email, PASSWORD, browserOf(ada));
  expect(known.status).toBe(200);
  // The sign-in does not open the account to strangers.
  expect((await signIn(service, ada.email, PASSWORD)).status).toBe(429);
});

test('a browser that was signed in before has ten guesses of its own, from wherever, and cookies of no account have none', async ({
  service,
}) => {
  const person = await signUp(service);
  const browser = browserOf(person);
  const guesses = Array.from({ length: 12 }, () => signIn(service, person.email, WRONG, browser));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  const refused = await signIn(service, person.email, PASSWORD, browser);
  expect(refused.status).toBe(429);
  // A sign-in without the cookie is possible, and makes this another browser.
  const again = await signIn(service, person.email, PASSWORD);
  expect(again.status).toBe(200);
});

test('a stranger behind the same address keeps no browser out that was signed in before', async ({ service }) => {
  const person = await signUp(service);
  const network = { 'X-Forwarded-For': '198.18.0.3' };
  const many = Array.from({ length: 6 }, () => signIn(service, person.email, WRONG, network));
  expect((await Promise.all(many)).map(({ status }) => status)).toContain(429);
  const known = await signIn(service, person.email, PASSWORD, { ...network, ...browserOf(person) });
  expect(known.status).toBe(200);
});

test('the cookie of a browser cannot be read by scripts, holds no address, and stays the same browser', async ({
  service,
}) => {
  const { email } = await signUp(service);
  const response = await signIn(service, email, PASSWORD);
  const line = response.headers.getSetCookie().find((text) => text.startsWith('ras.browser_'))!;
  expect(line).toMatch(/HttpOnly/i);
  expect(line).toMatch(/SameSite=Lax/i);
  expect(line).toMatch(/Max-Age=15552000/i);
  const claimsOf = (text: string) =>
    JSON.parse(Buffer.from(text.split('.')[2]!, 'base64url').toString()) as { sub: string };
  expect(JSON.stringify(claimsOf(line))).not.toContain(email.split('@')[0]);
  const again = await signIn(service, email, PASSWORD, { Cookie: line.split(';')[0]! });
  const renewed = again.headers.getSetCookie().find((text) => text.startsWith('ras.browser_'))!;
  expect(claimsOf(renewed).sub).toBe(claimsOf(line).sub);
});

test('a stolen session has five guesses at the password, with both operations together', async ({ service }) => {
  const person = await signUp(service);
  const { Cookie = '' } = person.session.headers;
  const change = (currentPassword: string) =>
    postAuth(service, '/auth/change-password', { currentPassword, newPassword: 'another-long-password' }, { Cookie });
  const remove = (password: string) => postAuth(service, '/auth/delete-user', { password }, { Cookie });
  const tried = [change(WRONG), remove(WRONG), change(WRONG), remove(WRONG), remove(WRONG)];
  expect((await Promise.all(tried)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  for (const attempt of [change(PASSWORD), remove(PASSWORD)]) {
    const refused = await attempt;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  }
  expect((await signIn(service, person.email, PASSWORD)).status).toBe(200);
});

test('the right password at those operations is no guess, also where the last owner may not leave', async ({
  service,
}) => {
  const person = await signUp(service);
  const { Cookie = '' } = person.session.headers;
  for (let time = 0; time < 6; time += 1) {
    const refused = await postAuth(service, '/auth/delete-user', { password: PASSWORD }, { Cookie });
    expect(refused.status).toBe(409);
  }
});

test('codes of a second factor have ten guesses from all networks and browsers together', async ({
  service: { deps },
}) => {
  const guess = { kind: 'second-factor', account: newEmail(), network: '', browserId: undefined };
  const count = (fields: object) => countGuess(deps.database, { ...guess, ...fields } as Guess);
  for (let index = 0; index < 10; index += 1) {
    expect(await count({ network: `198.18.1.${index}` })).toBeUndefined();
  }
  expect(await count({ network: '198.18.1.11' })).toBeGreaterThan(800);
  // A right password makes a browser known, so this browser must not have more guesses.
  expect(await count({ network: '198.18.1.12', browserId: 'known' })).toBeGreaterThan(800);
  // Guesses of the account's password have a count of their own.
  expect(await count({ kind: 'password', network: '198.18.1.1' })).toBeUndefined();
});
