import { expect } from 'vitest';
import { openAccounts } from '#api/accounts.ts';
import { createApp } from '#api/app.ts';
import { listen } from '#api/http/listen.ts';
import { createLog } from '#lib/log.ts';
import { ageCounts, fillCounts } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { startMailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD, postAuth, signIn, signInAgain } from '#test/support/people.ts';
import { startService } from '#test/support/service.ts';

type Line = Readonly<Record<string, unknown>>;

const ADDRESS = '198.51.100.40';

const test = serviceTest()
  .extend('mailbox', { scope: 'file' }, async ({ options: _options }, { onCleanup }) => {
    const mailbox = await startMailbox();
    onCleanup(() => mailbox.stop());
    return mailbox;
  })
  /** An API that keeps its log, beside a service with a mail server. */
  .extend('logging', { scope: 'file' }, async ({ mailbox }, { onCleanup }) => {
    const service = await startService({ env: mailbox.env });
    const lines: Line[] = [];
    const log = createLog({ level: 'info', name: 'api' }, (line) => {
      lines.push(JSON.parse(line) as Line);
    });
    const accounts = openAccounts(service.config, service.deps, log);
    const app = createApp({ ...service.deps, ...accounts, log });
    const server = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
    onCleanup(async () => {
      await server.close();
      await service.close();
    });
    const { config, deps } = service;
    return { url: `http://127.0.0.1:${server.port}`, config, database: deps.database, lines };
  })
  .extend('post', ({ logging }) => (path: string, body: object, headers = {}) => {
    return postAuth(logging, `/auth${path}`, body, { 'X-Forwarded-For': ADDRESS, ...headers });
  })
  .extend('verified', ({ logging, mailbox }) => async () => {
    const email = newEmail();
    await postAuth(logging, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Grace' });
    await fetch(await mailbox.find(email, LINK), { redirect: 'manual' });
    return signIn(logging, email);
  });

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;

test('who signs in, is refused, or changes a password is logged with id and address, and nothing that is secret', async ({
  logging,
  mailbox,
  post,
  verified,
}) => {
  const person = await verified();
  const { Cookie = '' } = person.session.headers;
  logging.lines.length = 0;
  const wrong = 'wrong-password';
  const newPassword = 'another-long-password';
  await post('/sign-in/email', { email: person.email, password: wrong });
  await post('/sign-in/email', { email: newEmail(), password: wrong });
  await post('/sign-in/email', { email: person.email, password: PASSWORD });
  await post('/change-password', { currentPassword: wrong, newPassword }, { Cookie });
  await post('/change-password', { currentPassword: PASSWORD, newPassword }, { Cookie });
  await post('/request-password-reset', { email: person.email });
  const token = await mailbox.find(person.email, /\/reset-password#(\S+)/);
  await post('/reset-password', { newPassword: PASSWORD, token });
  await ageCounts(logging.database, 'sign-in-of-network', '10 seconds');
  await post('/sign-in/email', { email: person.email, password: wrong });
  await fillCounts(logging.database, 'password-of-network', 10);
  await post('/sign-in/email', { email: person.email, password: wrong });
  const { userId } = person;
  const told = logging.lines
    .filter(({ msg }) => msg !== 'request' && !String(msg).startsWith('auth: '))
    .map(({ msg, userId: id, reason, address, level }) => [level, msg, id, reason, address]);
  const reason = 'invalid_email_or_password';
  expect(told).toEqual([
    ['warn', 'a sign-in was refused', userId, reason, ADDRESS],
    ['warn', 'a sign-in was refused', undefined, reason, ADDRESS],
    ['info', 'signed in', userId, undefined, ADDRESS],
    ['warn', 'a new password was refused', userId, 'invalid_password', ADDRESS],
    ['info', 'a password was changed', userId, undefined, ADDRESS],
    ['info', 'a password was reset', userId, undefined, ADDRESS],
    ['warn', 'a sign-in was refused', userId, reason, ADDRESS],
    ['warn', 'a sign-in was refused', userId, 'rate_limited', ADDRESS],
  ]);
  const warnings = logging.lines.filter(({ msg }) => String(msg).startsWith('auth: '));
  expect(warnings.length).toBeGreaterThan(0);
  expect(new Set(warnings.map(({ address }) => address))).toEqual(new Set([ADDRESS]));
  const all = JSON.stringify(logging.lines);
  for (const secret of [wrong, newPassword, PASSWORD, token, person.email]) {
    expect(all).not.toContain(secret);
  }
});

test('a change of address is logged when it is asked for and when it is made', async ({
  logging,
  mailbox,
  post,
  verified,
}) => {
  const person = await verified();
  const { Cookie = '' } = person.session.headers;
  const newAddress = newEmail();
  logging.lines.length = 0;
  const follow = async (link: string) => {
    const { pathname, search } = new URL(link);
    const headers = { Cookie, 'X-Forwarded-For': ADDRESS };
    await fetch(`${logging.url}${pathname}${search}`, { redirect: 'manual', headers });
  };
  await post('/change-email', { newEmail: newAddress }, { Cookie });
  await follow(
    await mailbox.find(person.email, /wants to change its address[\s\S]*?(https?:\/\/\S+\/auth\/verify-email\?\S+)/),
  );
  await follow(await mailbox.find(newAddress, LINK));
  const told = logging.lines
    .filter(({ msg }) => msg !== 'request')
    .map(({ msg, userId, address }) => [msg, userId, address]);
  expect(told).toEqual([
    ['a change of address was asked for', person.userId, ADDRESS],
    ['an address was changed', person.userId, ADDRESS],
  ]);
});

test('a deleted account is logged with the id that it had', async ({ logging, post, verified }) => {
  const person = await verified();
  const { Cookie = '' } = person.session.headers;
  const [own] = (await person.session.get('/v1/organizations')).data;
  await person.session.delete(`/v1/organizations/${own.id}?confirm=${encodeURIComponent(own.name)}`);
  logging.lines.length = 0;
  const deleted = await post('/delete-user', { password: PASSWORD }, { Cookie });
  expect(deleted.status).toBe(200);
  expect(logging.lines).toContainEqual(
    expect.objectContaining({
      msg: 'an account was deleted',
      userId: person.userId,
      address: ADDRESS,
    }),
  );
});

test('the line of a request names who sent it, a person or a key, and from where', async ({ logging, verified }) => {
  const person = await verified();
  const headers = { 'X-Forwarded-For': ADDRESS };
  const session = (await signInAgain(logging, person)).with(headers);
  const key = (await person.key(['runs:read'])).with(headers);
  const keyId = (await session.get('/v1/api-keys')).data[0].id;
  logging.lines.length = 0;
  await session.get('/v1/organizations');
  await key.get('/v1/runs');
  await key.get('/v1/routines');
  await key.with({ Authorization: 'Bearer ras_unknown_key' }).get('/v1/runs');
  const told = logging.lines
    .filter(({ msg }) => msg === 'request')
    .map(({ status, actor, address }) => [status, actor, address]);
  expect(told).toEqual([
    [200, person.userId, ADDRESS],
    [200, keyId, ADDRESS],
    [403, keyId, ADDRESS],
    [401, undefined, ADDRESS],
  ]);
});
