import { expect } from 'vitest';
import { dyingProcess } from '#test/support/end-deps.ts';
import { createAccountMails } from '#core/foundation/outbox/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { openMailer } from '#lib/mail.ts';
import { changeMessages, ago } from '#test/support/given.ts';
import { newEmail, PASSWORD, postAuth, signIn } from '#test/support/people.ts';
import { makeDue, mailingTest } from '#test/core/delivery/notifications/fixture.ts';

const test = mailingTest({}, { worker: false }).extend('wait', ({ service }) => async (states: string[]) => {
  const { database } = service.deps;
  const found = () => database.rows<{ id: string; state: string; attempts: number; error: string | null }>`
    select o.id, o.state, coalesce(w.attempts, o.attempts) as attempts, coalesce(w.error, o.error) as error,
      o.sealed is null as "isEmpty"
    from outbox o left join work w on w.kind = 'account' and w.key = o.id and o.state = 'pending'
    where o.channel = 'account' order by o.id
  `;
  await expect.poll(async () => (await found()).slice(-states.length).map(({ state }) => state)).toEqual(states);
  return (await found()).slice(-states.length);
});

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;
const RESET = /\/reset-password#(\S+)/;

type Mailing = Parameters<typeof makeDue>[0];

/** Runs the part of a tick that sends mails, as another process does. */
function tick({ deps }: Mailing): Promise<number> {
  return createTickParts(deps).messages(new AbortController().signal);
}

test('a confirmation that is put off three times arrives once, by the same link', async ({
  service,
  mailbox,
  wait,
}) => {
  const email = newEmail();
  mailbox.faults.deferred = 3;
  const signedUp = await postAuth(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Grace' });
  expect(signedUp.status).toBe(200);
  await expect.poll(() => mailbox.faults.deferred).toBe(2);
  for (const left of [1, 0]) {
    await expect
      .poll(async () => (await wait(['pending']))[0]?.error)
      .toMatch(/asks to send the message later \(451\)/);
    const [mail] = await wait(['pending']);
    // The mails are not due yet, so none is tried.
    await tick(service);
    expect((await wait(['pending']))[0]).toEqual(mail);
    await makeDue(service);
    await tick(service);
    expect(mailbox.faults.deferred).toBe(left);
  }
  expect(await mailbox.textsTo(email)).toEqual([]);
  await makeDue(service);
  await tick(service);
  expect(await wait(['sent'])).toMatchObject([{ attempts: 4, isEmpty: true }]);
  expect(await mailbox.textsTo(email)).toHaveLength(1);
  await fetch(await mailbox.find(email, LINK), { redirect: 'manual' });
  expect((await signIn(service, email)).projectId).toMatch(/^prj_/);
});

test('in the good case each mail is sent once, also where the tick runs at the same time', async ({
  service,
  mailbox,
  wait,
}) => {
  const emails = Array.from({ length: 5 }, newEmail);
  await Promise.all([
    ...emails.map((email) => postAuth(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Grace' })),
    tick(service),
    tick(service),
  ]);
  await wait(emails.map(() => 'sent'));
  await makeDue(service);
  await tick(service);
  for (const email of emails) expect(await mailbox.textsTo(email)).toHaveLength(1);
});

test('a relay that is away while a process dies has the mails of a new password and an invitation sent later', async ({
  service,
  mailbox,
  person,
  wait,
}) => {
  const ada = await person();
  const { database } = service.deps;
  const smtpPort = await freePort();
  // The mail server of this process is away, and the process ends before the server returns.
  const dying = await service.replica({ SMTP_URL: `smtp://127.0.0.1:${smtpPort}` });
  const invited = newEmail();
  const there = { url: dying.url, config: service.config };
  await postAuth(there, '/auth/request-password-reset', { email: ada.email });
  const path = `/v1/organizations/${ada.organizationId}/invitations`;
  const { status, data } = await ada.session.at(dying.url).post(path, { email: invited });
  expect(status).toBe(201);
  const waiting = await wait(['pending', 'pending']);
  await dying.close();
  expect(await mailbox.textsTo(invited)).toEqual([]);

  const sealed = await database.rows<{ text: string }>`
    select o::text as text from outbox o where id = any(${waiting.map(({ id }) => id)})
  `;
  expect(
    sealed.filter(({ text }) => [ada.email, invited, data.token, 'reset-password'].some((each) => text.includes(each))),
  ).toEqual([]);

  await makeDue(service);
  await tick(service);
  const token = await mailbox.find(ada.email, RESET);
  const reset = await postAuth(service, '/auth/reset-password', { newPassword: 'another-long-password', token });
  expect(reset.status).toBe(200);
  expect(await mailbox.find(invited, /\/invitations#(\S+)/)).toBe(data.token);
});

test('a process that dies while it sends has the mail sent again under the same id', async ({ service, mailbox }) => {
  const { database, secrets } = service.deps;
  const held = { to: newEmail(), subject: 'Confirm', text: 'Open this.', seconds: 3_600 };
  const never = new Promise<undefined>(() => undefined);
  const hanging = { attempt: () => never, close: () => undefined };
  const { work } = dyingProcess(database);
  await createAccountMails({ secrets, work }).queue(database, held);
  void tick({ deps: { ...service.deps, mailer: hanging } });
  const claimed = () => database.row`select from work where kind = 'account' and attempts = 1`;
  await expect.poll(claimed).toBeDefined();
  await tick(service);
  expect(await mailbox.textsTo(held.to)).toEqual([]);
  await makeDue(service);
  await tick(service);
  expect(await mailbox.textsTo(held.to)).toHaveLength(1);
});

test('a mail is given up when its link is over, when it is refused, and when its invitation is taken back', async ({
  service,
  mailbox,
  person,
  wait,
}) => {
  const ada = await person();
  const { database } = service.deps;
  mailbox.faults.deferred = 1;
  await postAuth(service, '/auth/request-password-reset', { email: ada.email });
  const [late] = await wait(['pending']);
  const putOff = () =>
    database.row`select from work where kind = 'account' and key = ${late!.id} and error is not null`;
  await expect.poll(putOff).toBeDefined();
  await changeMessages(database, late!.id, { expiresAt: ago('1 second') });
  await makeDue(service);
  await tick(service);
  expect(await wait(['failed'])).toMatchObject([{ error: 'the link in the mail has expired', isEmpty: true }]);

  const path = `/v1/organizations/${ada.organizationId}/invitations`;
  mailbox.faults.refused = 1;
  await ada.session.post(path, { email: newEmail() });
  expect(await wait(['failed'])).toMatchObject([{ error: 'the mail server has refused the message (550)' }]);

  const email = newEmail();
  mailbox.faults.deferred = 2;
  await ada.session.post(path, { email });
  await expect.poll(() => mailbox.faults.deferred).toBe(1);
  const again = await ada.session.post(path, { email });
  await expect.poll(() => mailbox.faults.deferred).toBe(0);
  await wait(['cancelled', 'pending']);
  await ada.session.delete(`${path}/${again.data.id}`);
  await wait(['cancelled', 'cancelled']);
  await makeDue(service);
  await tick(service);
  expect(await mailbox.textsTo(email)).toEqual([]);
});

test('a mail server without STARTTLS is said by name, and gets the mails once it may', async ({ service, mailbox }) => {
  const { database, secrets } = service.deps;
  const to = newEmail();
  const mailer = openMailer({ url: mailbox.smtpUrl, from: 'Test <test@example.com>', requireTls: true });
  const { work } = dyingProcess(database);
  const mail = { to, subject: 'Confirm', text: 'Open this.', seconds: 3_600 };
  await createAccountMails({ secrets, work }).queue(database, mail);
  await tick({ deps: { ...service.deps, mailer } });
  mailer.close();
  const row = await database.row`select error from work where kind = 'account' order by key desc limit 1`;
  expect(row).toMatchObject({ error: expect.stringContaining('SMTP_TLS_REQUIRED') });
  await makeDue(service);
  await tick(service);
  expect(await mailbox.textsTo(to)).toHaveLength(1);
});
