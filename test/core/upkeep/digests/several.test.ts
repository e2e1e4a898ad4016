import { expect } from 'vitest';
import { doNow } from '#core/scheduling/index.ts';
import { queueResultDigests } from '#core/upkeep/digests/index.ts';
import { mailingTest, newsTo, sendNow } from '#test/core/delivery/notifications/fixture.ts';
import { changeRoutines, giveRole, ifAny, removeMemberships } from '#test/support/given.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { choose, digestOf, ended, fallDueOnce, projectOf, routineOf } from './world.ts';

const test = mailingTest({}, { worker: false });

/** Gives a person a project with a due digest that has this number of first results. */
async function dueProject(service: Service, owner: Person, name: string, results = 1) {
  const project = await projectOf(owner, name);
  await choose(project);
  for (let nth = 0; nth < results; nth += 1) {
    const id = await routineOf(service, project, `${name} report ${nth}`);
    await ended(service, id, { result: `News of ${name}.` });
  }
  await fallDueOnce(service, project);
  return project;
}

function oneClick(link: string): Promise<Response> {
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  return fetch(link, { method: 'POST', body });
}

/** Reads the mails that wait to be sent to a person. */
function mailsOf({ deps: { database } }: Service, { userId }: Person) {
  return database.rows<{
    content: unknown;
  }>`select content from outbox where user_id = ${userId} and state = 'pending'`;
}

test('one mail has each project of a person that has news, under its name', async ({ service, mailbox, person }) => {
  const owner = await person();
  const shop = await dueProject(service, owner, 'Shop', 2);
  const blog = await dueProject(service, owner, 'Blog');
  await dueProject(service, owner, 'Calm', 0);
  const later = await projectOf(owner, 'Later');
  await choose(later);
  await ended(service, await routineOf(service, later, 'Later report'), { result: 'Later.' });
  await sendNow(service);
  await sendNow(service);

  const [mail, ...others] = await newsTo(mailbox, owner);
  expect(others).toEqual([]);
  expect(mail?.subject).toMatch(/^3 new results: (Shop, Blog|Blog, Shop)$/);
  expect(mail?.text).toContain('What is new in 2 projects.');
  expect(mail?.text).toContain(
    `Shop: New results\n=================\n\n${service.config.UI_ORIGIN}/p/${shop.projectId}\n`,
  );
  expect(mail?.text).toContain('Blog report 0 - First result');
  expect(mail?.text).not.toMatch(/Calm|Later/);
  expect(mail?.html).toMatch(new RegExp(`href="[^"]+/p/${blog.projectId}"[^>]*>Blog: New results<`));
  // Each project's digest has its next time.
  const { data } = await owner.session.get(digestOf(shop));
  expect(Date.parse(data.nextAt)).toBeGreaterThan(Date.now());
});

test('projects share the room of one mail', async ({ service, mailbox, person }) => {
  const owner = await person();
  for (const name of ['Shop', 'Blog', 'Docs', 'News']) await dueProject(service, owner, name, 8);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toMatch(/^32 new results: \w+, \w+, \w+ and 1 more$/);
  expect(mail?.text.match(/First result/g)).toHaveLength(4 * 6);
  expect(mail?.text.match(/2 more routines with news on Home\./g)).toHaveLength(4);
});

test('one click ends the digests of all projects, and a new choice brings back that of its own', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const shop = await dueProject(service, owner, 'Shop');
  const blog = await dueProject(service, owner, 'Blog');
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  const link = /^<(.+)>$/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? '';
  expect(mail?.text).toContain(`No more digests of any project: ${link}`);
  expect(mail?.html).toContain(link);
  expect(await (await fetch(link)).text()).toContain('Do you want no more digests of any project?');
  const frequencies = () =>
    Promise.all([shop, blog].map(async (each) => (await owner.session.get(digestOf(each))).data.frequency));
  expect(await frequencies()).toEqual(['daily', 'daily']);
  expect((await oneClick(link)).status).toBe(200);
  expect(await frequencies()).toEqual(['off', 'off']);
  await oneClick(`${link}?again`);
  expect(await frequencies()).toEqual(['daily', 'daily']);
  await oneClick(link);
  await choose(blog);
  expect(await frequencies()).toEqual(['off', 'daily']);
  await fallDueOnce(service, shop);
  await fallDueOnce(service, blog);
  await sendNow(service);
  const subjects = (await newsTo(mailbox, owner)).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(['1 new result: Blog', '2 new results: Shop, Blog']);

  // Each project also has a link of its own.
  const ofBlog = /No more digests of the project "Blog": (\S+)/.exec(mail?.text ?? '')?.[1] ?? '';
  await oneClick(ofBlog);
  await choose(shop);
  expect(await frequencies()).toEqual(['daily', 'off']);
});

test('what the person may not read any more when a mail is sent is not in it', async ({ service, mailbox, person }) => {
  const [owner, guest] = [await person(), await person()];
  await giveRole(service.deps.database, owner.organizationId, guest.userId, 'admin');
  const { organizationId } = owner;
  await dueProject(service, { ...guest, organizationId }, 'Left');
  await dueProject(service, guest, 'Own');
  const gone = await dueProject(service, guest, 'Gone');
  const { database } = service.deps;
  await queueResultDigests(database);
  await doNow(service.deps, 'digest');
  await removeMemberships(database, { organizationId, userId: guest.userId });
  await changeRoutines(database, ifAny({ projectId: gone.projectId }), { state: 'paused' });
  const deleted = await guest.session.delete(`/v1/projects/${gone.projectId}?confirm=Gone`);
  expect(deleted.status).toBe(200);
  // Results of a deleted project are removed at once, and not only when the rest is sent.
  const [waiting] = await mailsOf(service, guest);
  expect(JSON.stringify(waiting)).toContain('News of Own');
  expect(JSON.stringify(waiting)).not.toContain('News of Gone');
  await sendNow(service);
  const [mail, ...others] = await newsTo(mailbox, guest);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('1 new result: Own');
  expect(`${mail?.text}${mail?.html}`).not.toMatch(/Left|Gone/);
});
