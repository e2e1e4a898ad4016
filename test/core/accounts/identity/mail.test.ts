import { expect } from 'vitest';
import { connect, enterAssistant } from '#test/support/assistants.ts';
import { ago, changePeople, fillCounts } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { startMailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD, postAuth, signIn } from '#test/support/people.ts';
import { startService } from '#test/support/service.ts';

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;
const RESET = /\/reset-password#(\S+)/;

const test = serviceTest()
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
  .extend('post', ({ mailing }) => (path: string, body: object, headers = {}) => {
    return postAuth(mailing, `/auth${path}`, body, headers);
  })
  /** Opens the link of a confirmation, as a browser without a session. */
  .extend('confirm', ({ mailbox }) => async (address: string) => {
    const link = await mailbox.find(address, LINK);
    return fetch(link, { redirect: 'manual' });
  })
  .extend('verified', ({ mailing, post, confirm }) => async (email = newEmail()) => {
    await post('/sign-up/email', { email, password: PASSWORD, name: 'Grace' });
    await confirm(email);
    return signIn(mailing, email);
  });

test('a person signs in only after confirming their address, and the mail leads there', async ({
  mailing,
  post,
  confirm,
}) => {
  const email = newEmail();
  const signedUp = await post('/sign-up/email', { email, password: PASSWORD, name: 'Grace' });
  expect([signedUp.status, signedUp.headers.getSetCookie()]).toEqual([200, []]);
  const early = await post('/sign-in/email', { email, password: PASSWORD });
  expect([early.status, ((await early.json()) as Failure).error.code]).toEqual([403, 'email_not_verified']);
  expect((await confirm(email)).status).toBe(302);
  expect((await signIn(mailing, email)).projectId).toMatch(/^prj_/);
});

test('a confirmation leads to the user interface, wherever that is, and nowhere else', async ({ mailbox, mailing }) => {
  const UI_ORIGIN = 'https://app.example.com';
  const replica = await mailing.replica({ UI_ORIGIN });
  try {
    for (const [callbackURL, leadsTo] of [
      [undefined, `${UI_ORIGIN}/`],
      ['/verified', `${UI_ORIGIN}/verified`],
      [`${UI_ORIGIN}/sign-in?confirmed`, `${UI_ORIGIN}/sign-in?confirmed`],
    ]) {
      const email = newEmail();
      const body = { email, password: PASSWORD, name: 'Grace', callbackURL };
      const at = { url: replica.url, config: { UI_ORIGIN } };
      expect((await postAuth(at, '/auth/sign-up/email', body)).status).toBe(200);
      const link = new URL(await mailbox.find(email, LINK));
      const there = new URL(link.pathname + link.search, replica.url);
      const { status, headers } = await fetch(there, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([302, leadsTo]);
    }
  } finally {
    await replica.close();
  }
});

test('signing up says the same of an address with an account, which gets a mail that says so', async ({
  mailbox,
  post,
  verified,
}) => {
  const { email } = await verified();
  const shape = async (address: string) => {
    const body = { email: address, password: PASSWORD, name: 'Grace' };
    const response = await post('/sign-up/email', body);
    const { user } = (await response.json()) as { user: Record<string, unknown> };
    const { id, createdAt, updatedAt, email: _email, ...rest } = user;
    expect([typeof id, typeof createdAt, typeof updatedAt]).toEqual(['string', 'string', 'string']);
    return { status: response.status, cookies: response.headers.getSetCookie(), rest };
  };
  expect(await shape(email)).toEqual(await shape(newEmail()));
  await mailbox.find(email, /(has an account already)/);
});

test('a new password ends on request what programs may do for the person', async ({
  mailing,
  mailbox,
  post,
  verified,
}) => {
  for (const endPrograms of [false, true]) {
    const person = await verified();
    const key = await person.key();
    const assistant = await enterAssistant(mailing);
    const { body } = await connect(assistant, person);
    await post('/request-password-reset', { email: person.email });
    const token = await mailbox.find(person.email, RESET);
    expect((await post('/reset-password', { newPassword: 'another-long-password', token, endPrograms })).status).toBe(
      200,
    );
    expect((await key.get('/v1/routines')).status).toBe(endPrograms ? 401 : 200);
    // The session's own tokens end in any case; an assistant continues with its refresh token.
    const again = await assistant.call('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token });
    expect(again.status).toBe(endPrograms ? 400 : 200);
  }
});

test('a forgotten password is replaced by mail, once, and ends the sessions there are', async ({
  mailing,
  mailbox,
  post,
  verified,
}) => {
  const person = await verified();
  await post('/request-password-reset', { email: person.email });
  const token = await mailbox.find(person.email, RESET);
  const [mail] = await mailbox.mailsTo(person.email);
  expect(mail?.html).toMatch(/within an hour:<\/p>\n<p[^>]*><a class="button"[^>]*>Choose a password<\/a>/);
  const newPassword = 'another-long-password';
  expect((await post('/reset-password', { newPassword, token })).status).toBe(200);
  expect((await person.session.get('/v1/organizations')).status).toBe(401);
  const again = await post('/reset-password', { newPassword, token });
  expect([again.status, ((await again.json()) as Failure).error.code]).toEqual([400, 'invalid_token']);
  const old = await post('/sign-in/email', { email: person.email, password: PASSWORD });
  expect(old.status).toBe(401);
  const body = { email: person.email, password: newPassword };
  expect((await postAuth(mailing, '/auth/sign-in/email', body)).status).toBe(200);
});

test('the database holds no token with which a password can be reset', async ({ mailing, mailbox, post, verified }) => {
  const { email } = await verified();
  await post('/request-password-reset', { email });
  const token = await mailbox.find(email, RESET);
  const stored = await mailing.deps.database.rows<{
    text: string;
  }>`select v::text as text from verifications v`;
  expect(stored.length).toBeGreaterThan(0);
  expect(stored.filter(({ text }) => text.includes(token))).toEqual([]);
});

test('strangers who use up the attempts at an account, and the mails to it, do not keep its owner from a new password', async ({
  mailbox,
  mailing,
  post,
  verified,
}) => {
  const { email } = await verified();
  const signIn = async (password: string, headers = {}) => post('/sign-in/email', { email, password }, headers);
  const exhaust = async () => {
    const guess = async (index: number) => signIn('wrong-password', { 'X-Forwarded-For': `100.65.${index}.1` });
    await guess(0);
    await fillCounts(mailing.deps.database, 'password-of-account', 195);
    await Promise.all(Array.from({ length: 10 }, (_, index) => guess(index + 1)));
  };
  await exhaust();
  for (let time = 0; time < 6; time += 1) {
    await post('/sign-up/email', { email, password: PASSWORD, name: 'Eve' });
  }
  expect((await signIn(PASSWORD)).status).toBe(429);
  await post('/request-password-reset', { email });
  const token = await mailbox.find(email, RESET);
  const newPassword = 'another-long-password';
  const reset = await post('/reset-password', { newPassword, token });
  expect(reset.status).toBe(200);
  const Cookie = reset.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  expect((await signIn(newPassword)).status).toBe(200);
  // The browser of the reset is known, so guesses of strangers do not lock it out.
  await exhaust();
  expect((await signIn(newPassword)).status).toBe(429);
  expect((await signIn(newPassword, { Cookie })).status).toBe(200);
});

test('asking for a new password says the same of an address without an account', async ({
  mailbox,
  post,
  verified,
}) => {
  const { email } = await verified();
  const unknown = newEmail();
  const said = async (address: string) => {
    const response = await post('/request-password-reset', { email: address });
    return [response.status, await response.text()];
  };
  expect(await said(unknown)).toEqual(await said(email));
  await mailbox.find(email, RESET);
  expect(await mailbox.textsTo(unknown)).toEqual([]);
});

test('an address is changed when the old one agrees and the new one confirms', async ({
  mailing,
  mailbox,
  post,
  verified,
}) => {
  const person = await verified();
  const newAddress = newEmail();
  const { Cookie = '' } = person.session.headers;
  const asked = await post('/change-email', { newEmail: newAddress }, { Cookie });
  expect(asked.status).toBe(200);
  const agreement = await mailbox.find(
    person.email,
    /wants to change its address[\s\S]*?(https?:\/\/\S+\/auth\/verify-email\?\S+)/,
  );
  await fetch(agreement, { redirect: 'manual', headers: { Cookie } });
  const before = await post('/sign-in/email', { email: newAddress, password: PASSWORD });
  expect(before.status).toBe(401);
  await fetch(await mailbox.find(newAddress, LINK), { redirect: 'manual', headers: { Cookie } });
  expect((await signIn(mailing, newAddress)).userId).toBe(person.userId);
  const old = await post('/sign-in/email', { email: person.email, password: PASSWORD });
  expect(old.status).toBe(401);
});

test('a link that a browser fetches ahead confirms no address', async ({ mailing, mailbox, post }) => {
  const email = newEmail();
  await post('/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  const link = await mailbox.find(email, LINK);
  const ahead = await fetch(link, { redirect: 'manual', headers: { 'Sec-Purpose': 'prefetch' } });
  expect([ahead.status, ahead.headers.get('cache-control')]).toEqual([204, 'no-store']);
  expect((await post('/sign-in/email', { email, password: PASSWORD })).status).toBe(403);
  await fetch(link, { redirect: 'manual' });
  expect((await signIn(mailing, email)).projectId).toMatch(/^prj_/);
});

test('at most five mails of a kind an hour go to one address, from all requests together', async ({
  mailbox,
  post,
  verified,
}) => {
  const { email } = await verified();
  const have = (await mailbox.textsTo(email)).length;
  expect(have).toBe(1);
  for (let index = 0; index < 8; index += 1) {
    expect((await post('/request-password-reset', { email })).status).toBe(200);
  }
  await expect.poll(async () => (await mailbox.textsTo(email)).length).toBe(have + 5);
});

test('an address that lost its confirmation no longer opens anything', async ({ mailing, verified }) => {
  const person = await verified();
  expect((await person.session.get('/v1/organizations')).status).toBe(200);
  await changePeople(mailing.deps.database, person.userId, { emailVerified: false });
  expect((await person.session.get('/v1/organizations')).status).toBe(401);
});

test('an invitation is mailed with its token and the address of who invites, and makes no link of a name', async ({
  mailbox,
  verified,
  mailing,
}) => {
  const person = await verified();
  const email = newEmail();
  const path = `/v1/organizations/${person.organizationId}`;
  await person.session.patch(path, { name: 'Overdue: https://evil.example/pay @once' });
  const invited = await person.session.post(`${path}/invitations`, { email });
  expect(invited.status).toBe(201);
  const token = await mailbox.find(email, /\/invitations#(\S+)/);
  expect(token).toBe(invited.data.token);
  const [text = ''] = await mailbox.textsTo(email);
  expect(text).toContain(`${person.email} invites you to the organization "Overdue https evil example pay once".`);
  expect(mailing.config.SMTP_URL).toBe(mailbox.smtpUrl);
});

test('an account younger than a week has ten invitations mailed a day, and an older one more', async ({
  mailbox,
  verified,
  mailing,
}) => {
  const person = await verified();
  const path = `/v1/organizations/${person.organizationId}/invitations`;
  const invite = async () => {
    const email = newEmail();
    expect((await person.session.post(path, { email })).status).toBe(201);
    return email;
  };
  const emails: string[] = [];
  for (let time = 0; time < 11; time += 1) emails.push(await invite());
  await changePeople(mailing.deps.database, person.userId, { createdAt: ago('8 days') });
  const later = await invite();
  // Mails are sent in the order in which they were queued.
  await mailbox.find(later, /invitations#(\S+)/);
  const mailed = await Promise.all(emails.map(async (to) => (await mailbox.textsTo(to)).length));
  expect(mailed).toEqual([...Array.from({ length: 10 }, () => 1), 0]);
});

interface Failure {
  readonly error: { readonly code: string };
}
