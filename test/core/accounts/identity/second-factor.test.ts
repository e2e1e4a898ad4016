import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Secret } from 'otpauth';
import { expect } from 'vitest';
import { stepOfCode, totpUri } from '#core/accounts/identity/second-factor/store.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { startMailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD, postAuth, signIn, signUp } from '#test/support/people.ts';
import { addSecondFactor, codeOf } from '#test/support/second-factor.ts';
import { startService } from '#test/support/service.ts';

const run = promisify(execFile);

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;

const test = serviceTest()
  /** Sends the password, and returns the cookies for the request with the code. */
  .extend('beginSignIn', ({ service }) => async (email: string) => {
    const response = await postAuth(service, '/auth/sign-in/email', { email, password: PASSWORD });
    return { body: await response.json(), cookies: cookiesOf(response), status: response.status };
  })
  .extend('giveFactor', ({ service }) => async (Cookie: string, body: object) => {
    const response = await postAuth(service, '/auth/sign-in/second-factor', body, { Cookie });
    const { error } = (await response.clone().json()) as { error?: { code: string } };
    return { status: response.status, code: error?.code, cookies: cookiesOf(response) };
  })
  .extend('guarded', { scope: 'file' }, ({ service }) => async () => {
    const person = await signUp(service);
    return { ...person, factor: await addSecondFactor(service.deps.database, person) };
  })
  .extend('mailbox', { scope: 'file' }, async ({ options: _options }, { onCleanup }) => {
    const mailbox = await startMailbox();
    onCleanup(() => mailbox.stop());
    return mailbox;
  })
  .extend('mailing', { scope: 'file' }, async ({ mailbox }, { onCleanup }) => {
    const service = await startService({ env: mailbox.env });
    onCleanup(() => service.close());
    return service;
  })
  /** Signs up a person and confirms their address. */
  .extend('confirmed', ({ mailing, mailbox }) => async () => {
    const email = newEmail();
    await postAuth(mailing, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Ada' });
    await fetch(await mailbox.find(email, LINK), { redirect: 'manual' });
    return signIn(mailing, email);
  });

test('codes are those of RFC 6238, at most one step away', () => {
  const secret = Secret.fromUTF8('12345678901234567890').base32;
  const vectors = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const;
  for (const [seconds, code] of vectors) {
    const step = Math.floor(seconds / 30);
    const at = (moved: number) => stepOfCode(secret, code, (seconds + moved) * 1_000);
    expect([at(0), at(30), at(-30)], code).toEqual([step, step, step]);
    expect([at(61), at(-61)], code).toEqual([undefined, undefined]);
  }
  expect(totpUri(secret, { issuer: 'app.example.com', account: 'ada@example.com' })).toBe(
    `otpauth://totp/app.example.com:ada%40example.com?issuer=app.example.com&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
  );
});

test('with a second factor the password alone opens nothing, and a code completes the sign-in', async ({
  service,
  guarded,
  beginSignIn,
  giveFactor,
}) => {
  const { email, factor } = await guarded();
  const { status, body, cookies } = await beginSignIn(email);
  expect([status, body]).toEqual([200, { secondFactorRequired: true }]);
  const get = (Cookie: string) => service.anonymous.with({ Cookie }).get('/v1/sessions');
  expect((await get(cookies)).status).toBe(401);
  const signedIn = await giveFactor(cookies, { code: await factor.code() });
  expect(signedIn.status).toBe(200);
  expect((await get(signedIn.cookies)).status).toBe(200);
  const again = await giveFactor(cookies, { code: await factor.code() });
  expect([again.status, again.code]).toEqual([401, 'sign_in_expired']);
});

test('a second factor counts only once a code has confirmed it', async ({ service, beginSignIn }) => {
  const { session, email } = await signUp(service);
  const { secret } = (await session.post('/auth/second-factor/begin')).body;
  const wrong = await session.post('/auth/second-factor/confirm', { code: otherThan(secret) });
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_code']);
  expect((await beginSignIn(email)).body).toMatchObject({ user: { email } });
  expect((await session.get('/auth/second-factor')).body).toEqual({
    confirmedAt: null,
    recoveryCodesLeft: 0,
    passkeys: [],
  });
});

test('confirming it ends the sessions that the password alone has opened', async ({ service, beginSignIn }) => {
  const person = await signUp(service);
  const { cookies } = await beginSignIn(person.email);
  const other = service.anonymous.with({ Cookie: cookies });
  expect((await other.get('/v1/sessions')).status).toBe(200);
  await addSecondFactor(service.deps.database, person);
  expect((await other.get('/v1/sessions')).status).toBe(401);
  expect((await person.session.get('/v1/sessions')).status).toBe(200);
});

test('a code counts once, also for two who give it at the same time', async ({ guarded, beginSignIn, giveFactor }) => {
  const { email, factor } = await guarded();
  const code = await factor.code();
  const [one, other] = [await beginSignIn(email), await beginSignIn(email)];
  const both = await Promise.all([giveFactor(one.cookies, { code }), giveFactor(other.cookies, { code })]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
});

test('each recovery code signs in once, typed in capitals or without dashes, and the rest is counted', async ({
  service,
  guarded,
  beginSignIn,
  giveFactor,
}) => {
  const { email, factor, userId, session, organizationId } = await guarded();
  const [first = '', second = ''] = factor.recoveryCodes;
  expect(factor.recoveryCodes).toHaveLength(10);
  const recover = async (recoveryCode: string) => {
    const { cookies } = await beginSignIn(email);
    return giveFactor(cookies, { recoveryCode });
  };
  expect((await recover(first.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
  expect((await recover(first)).code).toBe('invalid_code');
  expect((await recover(second)).status).toBe(200);
  const { body } = await session.get('/auth/second-factor');
  expect(body).toMatchObject({ recoveryCodesLeft: 8 });
  const events = await session.get(`/v1/audit-events?organizationId=${organizationId}`);
  const actions = events.data.map(({ action }: { action: string }) => action);
  expect(actions.slice(0, 3)).toEqual([
    'member.recovery_code_used',
    'member.recovery_code_used',
    'member.second_factor_added',
  ]);
  const kept = await service.deps.database.rows`select hash, used_at from recovery_codes where user_id = ${userId}`;
  expect(kept).toHaveLength(10);
  const stored = JSON.stringify(kept.map(({ hash }) => String(hash)));
  expect(factor.recoveryCodes.filter((code) => stored.includes(code))).toEqual([]);
});

test('new recovery codes end the earlier ones, and a removed factor is no longer asked for', async ({
  guarded,
  beginSignIn,
  giveFactor,
}) => {
  const { email, factor, session } = await guarded();
  const replaced = await session.post('/auth/second-factor/recovery-codes');
  expect(replaced.body.recoveryCodes).toHaveLength(10);
  const [early] = factor.recoveryCodes;
  const { cookies } = await beginSignIn(email);
  expect((await giveFactor(cookies, { recoveryCode: early })).code).toBe('invalid_code');
  expect((await session.post('/auth/second-factor/remove')).status).toBe(200);
  expect((await beginSignIn(email)).body).toMatchObject({ user: { email } });
  const again = await session.post('/auth/second-factor/remove');
  expect([again.status, again.body.error.code]).toEqual([404, 'second_factor_not_found']);
});

test('ten codes for an account in a quarter of an hour, from any address, also after a right password', async ({
  guarded,
  beginSignIn,
  giveFactor,
}) => {
  const { email, factor } = await guarded();
  const statuses: number[] = [];
  for (let index = 0; index < 11; index += 1) {
    const { cookies } = await beginSignIn(email);
    statuses.push((await giveFactor(cookies, { code: otherThan(factor.secret) })).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  const { cookies } = await beginSignIn(email);
  expect((await giveFactor(cookies, { code: await factor.code() })).status).toBe(429);
});

test('a passkey needs a second factor, and nothing that no challenge was made for signs in', async ({
  service,
  guarded,
}) => {
  const { session } = await signUp(service);
  const refused = await session.post('/auth/passkeys/begin');
  expect([refused.status, refused.body.error.code]).toEqual([404, 'second_factor_not_found']);
  const { session: own } = await guarded();
  const { body } = await own.post('/auth/passkeys/begin');
  expect(body).toMatchObject({
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const response = { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' };
  const passkey = { id: 'e30', rawId: 'e30', type: 'public-key', response };
  const forged = await postAuth(service, '/auth/sign-in/passkey', { passkey });
  expect(forged.status).toBe(400);
  expect(await forged.json()).toMatchObject({ error: { code: 'invalid_passkey' } });
});

test('the secret is sealed to its row, and is nowhere in clear', async ({ service, guarded }) => {
  const { userId, factor } = await guarded();
  const kept = await service.deps.database.row<{
    secret: string;
  }>`select secret from second_factors where user_id = ${userId}`;
  const place = { table: 'second_factors', row: userId, column: 'secret' };
  expect(service.deps.secrets.open(kept!.secret, place)).toBe(factor.secret);
  expect(() => service.deps.secrets.open(kept!.secret, { ...place, row: 'another' })).toThrow();
});

test('the operator frees a person who has lost both, who then signs in by the password', async ({
  service,
  guarded,
  beginSignIn,
}) => {
  const { email, session } = await guarded();
  const free = () =>
    run(process.execPath, ['workers/free-account.ts', email], {
      env: { ...process.env, DATABASE_URL: service.databaseUrl },
    });
  expect((await free()).stdout).toContain('The second factor is removed');
  expect((await session.get('/v1/sessions')).status).toBe(401);
  expect((await beginSignIn(email)).body).toMatchObject({ user: { email } });
  await expect(free()).rejects.toThrow('no second factor');
});

test('the person is mailed when a factor is added, recovered and removed, and no flood of mails stops that', async ({
  mailbox,
  mailing,
  confirmed,
}) => {
  const person = await confirmed();
  const { email, session } = person;
  for (let index = 0; index < 6; index += 1) {
    await postAuth(mailing, '/auth/request-password-reset', { email });
  }
  const factor = await addSecondFactor(mailing.deps.database, person);
  await mailbox.find(email, /(need a code of your authenticator)/);
  const [recoveryCode] = factor.recoveryCodes;
  expect((await session.post('/auth/prove', { recoveryCode })).status).toBe(200);
  await mailbox.find(email, /(The code is used up)/);
  await session.post('/auth/second-factor/remove');
  await mailbox.find(email, /(your password alone signs you in)/);
});

test('the link that confirms a new address opens no session past a second factor', async ({
  mailbox,
  mailing,
  confirmed,
}) => {
  const person = await confirmed();
  const { email, session } = person;
  const next = newEmail();
  await addSecondFactor(mailing.deps.database, person);
  expect((await session.post('/auth/change-email', { newEmail: next })).status).toBe(200);
  const agreement = await mailbox.find(
    email,
    /wants to change its address[\s\S]*?(https?:\/\/\S+\/auth\/verify-email\?\S+)/,
  );
  await fetch(agreement, { redirect: 'manual' });
  const link = await mailbox.find(next, LINK);
  const opened = await fetch(link, { redirect: 'manual' });
  expect(opened.status).toBe(302);
  const found = await mailing.anonymous.with({ Cookie: cookiesOf(opened) }).get('/v1/sessions');
  expect(found.status).toBe(401);
  expect((await session.get('/auth/get-session')).body).toMatchObject({ user: { email: next } });
});

function otherThan(secret: string): string {
  return codeOf(secret) === '000000' ? '111111' : '000000';
}

function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}
