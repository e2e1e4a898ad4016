import { expect, vi } from 'vitest';
import { claimWork, failWork, finishWork, postponeWork } from '#core/foundation/work/queue.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { withStatements } from '#lib/database/index.ts';
import { openMailer } from '#lib/mail.ts';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';
import { startMailbox } from '#test/support/mail.ts';
import {
  failedRun,
  mailedFailure,
  mailingTest,
  makeDue,
  newsTo,
  outboxOf,
  sendNow,
  watchedRoutine,
} from '#test/core/delivery/notifications/fixture.ts';
import { ago, changeRuns, plantMails, removeMessages } from '#test/support/given.ts';

const test = mailingTest({ LEADS_EMAIL: 'sales@example.com' });

test('a mail server that is away is tried again and shown on the run, and the mail comes when it is back', async ({
  service,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const smtpPort = await freePort();
  const mailer = openMailer({
    url: `smtp://127.0.0.1:${smtpPort}`,
    from: 'Test <test@example.com>',
    requireTls: false,
  });
  const away = { deps: { ...service.deps, mailer } };
  const run = await failedRun(service, key, await watchedRoutine(key));
  const shown = async () => (await key.get(`/v1/runs/${run.id}`)).data.notifications[0];
  await sendNow(away);
  expect(await shown()).toMatchObject({
    state: 'pending',
    attempts: 1,
    error: 'the mail server could not be reached (ESOCKET)',
    nextAttemptAt: expect.any(String),
  });
  // The mails are not due yet, so none is tried.
  await sendNow(away);
  expect(await shown()).toMatchObject({ attempts: 1 });

  const back = await startMailbox({ smtpPort });
  await makeDue(service);
  await sendNow(away);
  expect(await shown()).toMatchObject({ state: 'sent', attempts: 2, error: null });
  expect(await back.mailsTo(owner.email)).toHaveLength(1);
  mailer.close();
  await back.stop();
});

test('a mail is given up after its last attempt, counted, and keeps no text', async ({ service, person }) => {
  const owner = await person();
  const key = await owner.key();
  const mailer = openMailer({
    url: `smtp://127.0.0.1:${await freePort()}`,
    from: 'Test <test@example.com>',
    requireTls: false,
  });
  const givenUp = async () =>
    total(parseSamples(await service.registry.metrics()), 'ras_message_attempts_total', {
      channel: 'mail',
      outcome: 'failed',
    });
  const before = await givenUp();
  const run = await failedRun(service, key, await watchedRoutine(key));
  for (let attempt = 0; attempt < 9; attempt += 1) {
    await makeDue(service);
    await sendNow({ deps: { ...service.deps, mailer } });
  }
  const [message] = await outboxOf(service, owner.projectId);
  expect(message).toMatchObject({ state: 'failed', content: null });
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    { state: 'failed', attempts: 9, error: expect.stringContaining('could not be reached') },
  ]);
  expect(await givenUp()).toBe(before + 1);
  mailer.close();
});

test('a process that dies between sending and recording has the same mail sent again, and no third', async ({
  service,
  mailbox,
  person,
}) => {
  const { owner } = await mailedFailure(service, person);
  const { database } = service.deps;
  const died = {
    ...service.deps,
    leadsEmail: undefined,
    // The end of a message is stored in a transaction.
    database: withStatements(
      Object.assign(Object.create(database) as typeof database, {
        query: (config: never) => database.query(config),
        connect: () => Promise.reject(new Error('the process is gone')),
      }),
    ),
  };
  await expect(sendNow({ deps: died })).rejects.toThrow('the process is gone');
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
  await makeDue(service);
  await sendNow(service);
  await makeDue(service);
  await sendNow(service);
  const mails = await newsTo(mailbox, owner);
  expect(mails).toHaveLength(2);
  expect(new Set(mails.map(({ headers }) => headers['message-id'])).size).toBe(1);
});

test('an attempt whose lease ran out records nothing over the next one', async ({ service, person }) => {
  const { owner } = await mailedFailure(service, person);
  const { database } = service.deps;
  await service.deps.work.idle();
  const [late] = await claimWork(database, 'mail', 100);
  expect(await claimWork(database, 'mail', 100)).toEqual([]);
  await makeDue(service);
  const [next] = await claimWork(database, 'mail', 100);
  const effect = vi.fn<() => Promise<void>>();
  await postponeWork(database, 'mail', late!, { error: 'late', delayMs: 0 });
  await failWork(database, 'mail', late!, 'late');
  await finishWork(database, 'mail', late!, effect);
  expect(effect).not.toHaveBeenCalled();
  expect(await database.rows`select error, attempts, failed_at from work where key = ${next!.key}`).toEqual([
    { error: null, attempts: 2, failed_at: null },
  ]);
  expect(await outboxOf(service, owner.projectId)).toMatchObject([{ state: 'pending' }]);
  await finishWork(database, 'mail', next!, effect);
  expect(effect).toHaveBeenCalledOnce();
});

test('replicas that send at the same time send each mail once', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  for (let index = 0; index < 6; index += 1) {
    await failedRun(service, key, await watchedRoutine(key));
  }
  await Promise.all(Array.from({ length: 5 }, () => sendNow(service)));
  expect(await newsTo(mailbox, owner)).toHaveLength(6);
});

test('an organization with a thousand mails does not keep another waiting', async ({ service, person }) => {
  const [loud, quiet] = [await person(), await person()];
  const { database } = service.deps;
  const planted = [...(await plantMails(database, loud, 1_000)), ...(await plantMails(database, quiet, 3))];
  const claimed = new Set((await claimWork(database, 'mail', 10)).map(({ key }) => key));
  const ofQuiet = planted.slice(1_000).filter((id) => claimed.has(id));
  expect([claimed.size, ofQuiet.length]).toEqual([10, 3]);
  await removeMessages(database, planted);
});

test('an enquiry is mailed to the operator, and a reply goes to who wrote it', async ({ service, mailbox }) => {
  const lead = {
    name: 'Grace Hopper',
    email: 'grace@navy.example',
    company: 'Navy',
    message: 'We would like to run two hundred routines a day.',
  };
  const sent = await service.anonymous.with({ Origin: service.config.UI_ORIGIN }).post('/public/business-leads', lead);
  expect(sent.status).toBe(202);
  await sendNow({ deps: { ...service.deps, leadsEmail: undefined } });
  expect(await mailbox.mailsTo('sales@example.com')).toEqual([]);
  await sendNow(service);
  await sendNow(service);
  const [mail, ...others] = await mailbox.mailsTo('sales@example.com');
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('Enquiry from Navy');
  expect(mail?.headers).toMatchObject({ 'reply-to': 'grace@navy.example' });
  expect(mail?.headers).not.toHaveProperty('list-unsubscribe');
  expect(mail?.text).toContain(lead.message);
});

test('without a mail server mails are given up at once and say so, and enquiries wait', async ({ service, person }) => {
  const owner = await person();
  const key = await owner.key();
  await service.anonymous.with({ Origin: service.config.UI_ORIGIN }).post('/public/business-leads', {
    name: 'Ada',
    email: 'ada@example.com',
    company: 'Engines',
    message: 'This is long enough.',
  });
  const run = await failedRun(service, key, await watchedRoutine(key));
  await sendNow({ deps: { ...service.deps, mailer: undefined } });
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    { state: 'failed', error: 'no mail server is configured' },
  ]);
  const leads = await service.deps.database
    .rows`select state from outbox where kind = 'business_lead' and content->>'subject' = 'Enquiry from Engines'`;
  expect(leads).toEqual([{ state: 'pending' }]);
});

test('a deleted project sends none of its queued mails', async ({ service, mailbox, person }) => {
  const { owner } = await mailedFailure(service, person);
  const deleted = await owner.session.delete(`/v1/projects/${owner.projectId}?confirm=Default`);
  expect(deleted.status).toBe(200);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  expect(await outboxOf(service, owner.projectId)).toMatchObject([
    { state: 'cancelled', error: 'the project was deleted', content: null },
  ]);
});

test('retention erases the text of a mail with the content of its run, and its row with the run', async ({
  service,
  mailbox,
  person,
}) => {
  const { owner, run } = await mailedFailure(service, person);
  const { database } = service.deps;
  const age = (days: number) => changeRuns(database, run.id, { finishedAt: ago(`${days} days`) });
  const retain = () => createTickParts(service.deps).retention(new AbortController().signal, 10_000);
  await age(101);
  await retain();
  expect(await outboxOf(service, owner.projectId)).toMatchObject([
    { state: 'cancelled', error: 'its content was erased', content: null },
  ]);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  await age(401);
  await retain();
  expect(await outboxOf(service, owner.projectId)).toEqual([]);
});
