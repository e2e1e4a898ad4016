import { expect } from 'vitest';
import { routineBody } from '#test/support/routines.ts';
import type { Person } from '#test/support/people.ts';
import { failedRun, mailingTest, newsTo, sendNow, watchedRoutine } from './fixture.ts';
import { changeNotified, changePeople } from '#test/support/given.ts';

const test = mailingTest();

async function join(owner: Person, guest: Person): Promise<void> {
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const { data } = await owner.session.post(path, { email: guest.email, role: 'member' });
  const accepted = await guest.session.post('/v1/invitations/accept', { token: data.token });
  expect(accepted.status).toBe(200);
}

test('only members can be named, by any form of id, in a routine and in a project', async ({ person }) => {
  const [owner, stranger] = [await person(), await person()];
  const key = await owner.key();
  for (const id of [stranger.userId, 'grace@example.com', 'unknown']) {
    const mail = { on: ['failed'], to: [owner.userId, id] };
    const created = await key.post('/v1/routines', routineBody({ notifications: { mail } }));
    expect(created.body.error).toMatchObject({ code: 'invalid_request' });
    expect(created.body.error.message).toContain(`notifications.mail.to: not a member`);
    const patched = await owner.session.patch(`/v1/projects/${owner.projectId}`, {
      notifications: { mail },
    });
    expect(patched.status).toBe(400);
  }
  const foreign = await stranger.session.patch(`/v1/projects/${owner.projectId}`, {
    notifications: { mail: null },
  });
  expect(foreign.status).toBe(404);
});

test('a removed member gets no more mail, also none that was queued before', async ({ service, mailbox, person }) => {
  const [owner, guest] = [await person(), await person()];
  await join(owner, guest);
  const key = await owner.key();
  const mail = { on: ['failed'], to: [guest.userId] };
  const id = await watchedRoutine(key, { notifications: { mail } });
  const run = await failedRun(service, key, id);
  const removed = await owner.session.delete(`/v1/organizations/${owner.organizationId}/members/${guest.userId}`);
  expect(removed.status).toBe(200);
  await sendNow(service);
  expect(await newsTo(mailbox, guest)).toEqual([]);
  const { data } = await key.get(`/v1/runs/${run.id}`);
  expect(data.notifications).toMatchObject([
    { state: 'cancelled', error: expect.stringContaining('no longer a member') },
  ]);
  const later = await failedRun(service, key, await watchedRoutine(key, { name: 'Other' }));
  expect(later.notifications).toHaveLength(1);
  // A recipient who has left blocks no other change of the routine.
  const renamed = await key.patch(`/v1/routines/${id}`, { name: 'Renamed' });
  expect([renamed.status, renamed.data.notifications.mail]).toEqual([200, mail]);
});

test('an address that is not confirmed gets nothing, and the run says so', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key);
  const { database } = service.deps;
  await changePeople(database, owner.userId, { emailVerified: false });
  const run = await failedRun(service, key, id);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  expect(run.notifications).toMatchObject([{ state: 'cancelled', to: null }]);
});

test('the members of one organization hear nothing of another', async ({ service, mailbox, person }) => {
  const [one, other] = [await person(), await person()];
  const [key, othersKey] = [await one.key(), await other.key()];
  const everyone = { notifications: { mail: { on: ['failed'], to: 'members' } } };
  await failedRun(service, key, await watchedRoutine(key, { ...everyone, name: 'Mine' }));
  await failedRun(service, othersKey, await watchedRoutine(othersKey, { ...everyone, name: 'Hers' }));
  await sendNow(service);
  expect((await newsTo(mailbox, one)).map(({ subject }) => subject)).toEqual(['Failed: Mine']);
  expect((await newsTo(mailbox, other)).map(({ subject }) => subject)).toEqual(['Failed: Hers']);
});

test('a link in the mail ends it without a session, by the button of a mail program too, and back', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Enough' });
  await failedRun(service, key, id);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  const link = /^<(.+)>$/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? '';
  expect(link).toMatch(new RegExp(`^${service.config.PUBLIC_URL}/public/unsubscribe/`));
  expect(mail?.text).toContain(link);

  const optOuts = async () => {
    const { rows } = await service.deps.database.query('select scope_id from mail_optouts');
    return rows.map(({ scope_id: scope }) => scope);
  };
  // A scanner that opens links changes nothing.
  const page = await fetch(link);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<form')]);
  expect(page.headers.get('Content-Security-Policy')).toContain("form-action 'self'");
  expect(await optOuts()).toEqual([]);

  const oneClick = () =>
    fetch(link, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
  expect([(await oneClick()).status, (await oneClick()).status]).toEqual([200, 200]);
  expect(await optOuts()).toEqual([id]);
  const other = await failedRun(service, key, await watchedRoutine(key, { name: 'Other' }));
  await changeNotified(service.deps.database, { routineId: id }, { mailedAt: null });
  const run = await failedRun(service, key, id);
  await sendNow(service);
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    { state: 'cancelled', error: 'the recipient has unsubscribed' },
  ]);
  expect((await key.get(`/v1/runs/${other.id}`)).data.notifications).toMatchObject([{ state: 'sent' }]);

  expect((await fetch(`${link}?again`, { method: 'POST' })).status).toBe(200);
  expect(await optOuts()).toEqual([]);
});

test('a link that was not signed here ends nothing', async ({ service, person }) => {
  const owner = await person();
  const { unsubscribeLinks: links } = service.deps;
  const link = links.of({ userId: owner.userId, scopeId: owner.projectId });
  const [payload, mac] = link.split('/').at(-1)!.split('.');
  const forged = Buffer.from(`prj_other:${owner.userId}`).toString('base64url');
  const wrong = [`${forged}.${mac}`, `${payload}.${'A'.repeat(43)}`, payload, '', `${payload}.${mac}x`];
  for (const token of wrong) {
    const response = await fetch(`${service.url}/public/unsubscribe/${token}`, { method: 'POST' });
    expect([token, response.status]).toEqual([token, 404]);
  }
  expect((await fetch(link, { method: 'DELETE' })).status).toBe(405);
});
