import { expect } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { openMailer } from '#lib/mail.ts';
import { mailingTest, makeDue, newsTo, outboxOf, sendNow } from '#test/core/delivery/notifications/fixture.ts';
import { changeDigests, changeOrganizations, giveRole } from '#test/support/given.ts';
import { startMailbox } from '#test/support/mail.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { choose, digestOf, ended, fallDueOnce, projectOf, routineOf } from './world.ts';

const test = mailingTest({}, { worker: false });

/** Makes a person's digest due, in a project with a first result of this name. */
async function withNews(service: Service, person: Person, name = 'Report'): Promise<string> {
  await choose(person);
  const id = await routineOf(service, person, name);
  await ended(service, id, { result: 'News.' });
  await fallDueOnce(service, person);
  return id;
}

/** Adds a person to another person's organization. */
async function join(service: Service, owner: Person, guest: Person): Promise<Person> {
  await giveRole(service.deps.database, owner.organizationId, guest.userId, 'member');
  return { ...guest, projectId: owner.projectId, organizationId: owner.organizationId };
}

test('a person in two organizations gets one mail of both, and a stranger nothing of them', async ({
  service,
  mailbox,
  person,
}) => {
  const [one, other] = [await person(), await person()];
  const guest = await join(service, one, other);
  await withNews(service, one, 'Mine');
  await withNews(service, other, 'Hers');
  await choose(guest);
  await fallDueOnce(service, guest);
  await sendNow(service);
  const titles = async (to: Person) =>
    (await newsTo(mailbox, to)).map(({ text }) =>
      [...text.matchAll(/(\S+) - First result/g)].map(([, title = '']) => title).toSorted(),
    );
  expect(await titles(one)).toEqual([['Mine']]);
  expect(await titles(other)).toEqual([['Hers', 'Mine']]);
  const foreign = await one.session.get(digestOf(other));
  expect(foreign.status).toBe(404);
  expect((await one.session.patch(digestOf(other), { frequency: 'daily' })).status).toBe(404);
});

test('a member who is removed gets none, also not one that waits to be sent, and begins again without', async ({
  service,
  mailbox,
  person,
}) => {
  const [owner, other] = [await person(), await person()];
  const guest = await join(service, owner, other);
  await withNews(service, guest);
  await sendNow({ deps: { ...service.deps, mailer: await awayMailer(service) } });
  await fallDueOnce(service, guest);
  const removed = await owner.session.delete(`/v1/organizations/${owner.organizationId}/members/${guest.userId}`);
  expect(removed.status).toBe(200);
  await makeDue(service);
  await sendNow(service);
  expect(await newsTo(mailbox, guest)).toEqual([]);
  expect(await outboxOf(service, owner.projectId)).toMatchObject([
    { state: 'cancelled', error: expect.stringContaining('no longer a member'), content: null },
  ]);
  await join(service, owner, other);
  expect((await guest.session.get(digestOf(guest))).data.frequency).toBe('off');
});

test('who may not read a project is mailed nothing of it: without a confirmed address, or the demanded factor', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  await withNews(service, owner);
  const { database } = service.deps;
  await changeOrganizations(database, owner.organizationId, { requiresSecondFactor: true });
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  expect((await owner.session.get(digestOf(owner))).body.error.code).toBe('second_factor_required');
  // The result is not lost: the next digest contains it.
  await changeOrganizations(database, owner.organizationId, { requiresSecondFactor: false });
  const { userId, projectId } = owner;
  await changeDigests(database, { userId, projectId }, { nextAt: new Date(Date.now() - 60_000) });
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
});

test('a mail server that is away delays a digest and never doubles it', async ({ service, person }) => {
  const owner = await person();
  await withNews(service, owner);
  const smtpPort = await freePort();
  const mailer = await awayMailer(service, smtpPort);
  const away = { deps: { ...service.deps, mailer } };
  await sendNow(away);
  await sendNow(away);
  expect(await outboxOf(service, owner.projectId)).toMatchObject([
    { state: 'pending', error: 'the mail server could not be reached (ESOCKET)' },
  ]);
  const back = await startMailbox({ smtpPort });
  await makeDue(service);
  await sendNow(away);
  await makeDue(service);
  await sendNow(away);
  expect(await newsTo(back, owner)).toHaveLength(1);
  mailer.close();
  await back.stop();
});

test('two workers at once queue one digest for each person', async ({ service, mailbox, person }) => {
  const people = [await person(), await person(), await person()];
  for (const each of people) {
    for (const name of ['Shop', 'Blog', 'Docs']) {
      await withNews(service, await projectOf(each, name), name);
    }
  }
  await Promise.all(Array.from({ length: 5 }, () => sendNow(service)));
  for (const each of people) expect(await newsTo(mailbox, each)).toHaveLength(1);
});

test('a POST to the link in the header ends the digests alone, and so does the link for the project', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  await withNews(service, owner);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  const link = /^<(.+)>$/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? '';
  expect(mail?.html).toContain(link);
  const page = await fetch(link);
  expect(await page.text()).toContain('Do you want no more digests of this project?');
  const frequency = async () => (await owner.session.get(digestOf(owner))).data.frequency;
  expect(await frequency()).toBe('daily');
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(link, { method: 'POST', body })).status).toBe(200);
  expect(await frequency()).toBe('off');
  await fallDueOnce(service, owner);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);

  // A new choice restores the digest, for results from then on.
  const { nextAt } = await choose(owner, { frequency: 'weekly', weekday: 'friday' });
  expect(nextAt).not.toBeNull();
  expect(await frequency()).toBe('weekly');
  const ofProject = /anything in this project: (\S+)/.exec(mail?.text ?? '')?.[1] ?? '';
  await fetch(ofProject, { method: 'POST' });
  expect(await frequency()).toBe('off');
  await fetch(`${ofProject}?again`, { method: 'POST' });
  expect(await frequency()).toBe('weekly');
});

test('another zone between two digests makes no second one on the date', async ({ service, mailbox, person }) => {
  const owner = await person();
  await withNews(service, owner);
  await choose(owner, { timezone: 'Pacific/Kiritimati', hour: 0 });
  const id = await routineOf(service, owner, 'Other');
  await fallDueOnce(service, owner);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
  await ended(service, id, { minutes: 2, result: 'More news.' });
  const { nextAt } = await choose(owner, { timezone: 'Pacific/Pago_Pago', hour: 23 });
  const dateOf = (zone: string, at: string) => new Date(at).toLocaleDateString('sv-SE', { timeZone: zone });
  // The two clocks are 25 hours apart.
  const digestDate = dateOf('Pacific/Kiritimati', new Date().toISOString());
  expect(dateOf('Pacific/Pago_Pago', nextAt) > digestDate).toBe(true);
});

test('what is chosen is checked, kept, and off until then', async ({ service, person }) => {
  const owner = await person();
  expect((await owner.session.get(digestOf(owner))).data).toEqual({
    frequency: 'off',
    weekday: 'monday',
    hour: 8,
    timezone: 'UTC',
    nextAt: null,
    mailDelivery: 'available',
  });
  const wrong = await owner.session.patch(digestOf(owner), { timezone: 'Mars/Olympus' });
  expect(wrong.body.error.code).toBe('invalid_timezone');
  expect((await owner.session.patch(digestOf(owner), { hour: 24 })).status).toBe(400);
  const times = { frequency: 'weekly', weekday: 'friday', hour: 7, timezone: 'Asia/Tokyo' };
  expect(await choose(owner, times)).toMatchObject(times);
  expect(await choose(owner, { hour: 6 })).toMatchObject({ ...times, hour: 6 });
  expect(await choose(owner, { frequency: 'off' })).toMatchObject({
    frequency: 'off',
    nextAt: null,
  });
  const deleted = await owner.session.delete(`/v1/projects/${owner.projectId}?confirm=Default`);
  expect(deleted.status).toBe(200);
  expect((await owner.session.get(digestOf(owner))).status).toBe(404);
  await createTickParts(service.deps).messages(new AbortController().signal);
});

async function awayMailer(service: Service, port?: number) {
  return openMailer({
    url: `smtp://127.0.0.1:${port ?? (await freePort())}`,
    from: 'Test <test@example.com>',
    requireTls: false,
  });
}
