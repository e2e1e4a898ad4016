import { expect } from 'vitest';
import { mailingTest, newsTo, outboxOf, sendNow } from '#test/core/delivery/notifications/fixture.ts';
import { ago, changeRoutines } from '#test/support/given.ts';
import { choose, digestOf, ended, fallDueOnce, routineOf } from './world.ts';

const test = mailingTest({}, { worker: false });

test('one mail has all that is new: what changed, failed, is partly done or the first, and how much is not', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  await choose(owner);
  const harbour = await routineOf(service, owner, 'Harbour');
  await ended(service, harbour, { minutes: 4_000, result: '# Ships\n\nThree ships.\nNo storm.' });
  const storm = await ended(service, harbour, {
    result: '# Ships\n\nThree ships.\n**A storm**.\n',
    costUsd: '0.12',
  });
  const report = await routineOf(service, owner, 'Weekly report');
  const first = await ended(service, report, { result: '# Week 47\n\nVisits 1,388\nSales 31' });
  const audit = await routineOf(service, owner, 'Audit');
  await ended(service, audit, { minutes: 4_000, result: 'x' });
  await ended(service, audit, { outcome: 'partial', result: 'Half of it.' });
  const sources = await routineOf(service, owner, 'Sources');
  await ended(service, sources, {
    state: 'failed',
    reason: 'content_filtered',
    errorMessage: 'The secret plans were refused.',
  });
  const calm = await routineOf(service, owner, 'Site check');
  await ended(service, calm, { minutes: 4_000, result: 'All is calm.' });
  await ended(service, calm, { result: 'All is calm.' });
  await fallDueOnce(service, owner);
  await sendNow(service);

  const [mail, ...others] = await newsTo(mailbox, owner);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('4 new results: Default');
  const text = mail?.text ?? '';
  expect(text).toContain('Harbour - Changed');
  expect(text).toContain('+ A storm.');
  expect(text).toContain('- No storm.');
  expect(text).toContain('$0.12');
  expect(text).toContain('Weekly report - First result');
  expect(text).toContain('Visits 1,388');
  expect(text).toContain('Audit - Succeeded in part');
  expect(text).toContain('Sources - Failed');
  expect(text).not.toContain('secret plans');
  expect(text).toContain('1 routine had nothing new.');
  const runs = `${service.config.UI_ORIGIN}/p/${owner.projectId}/runs`;
  expect(text).toContain(`${runs}/${storm}`);
  expect(mail?.html).toContain(`href="${runs}/${first}"`);
  expect(mail?.html).not.toMatch(/<img|<script|src=|url\(/);
  expect(mail?.headers).toMatchObject({
    'auto-submitted': 'auto-generated',
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  });
  // The text of the digest is deleted, and the digest is not sent twice.
  expect(await outboxOf(service, owner.projectId)).toMatchObject([
    { kind: 'results_digest', state: 'sent', content: null },
  ]);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
  const { data } = await owner.session.get(digestOf(owner));
  expect(Date.parse(data.nextAt)).toBeGreaterThan(Date.now());
});

test('a result that a later run has overtaken says since when it is over, below what holds', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  await choose(owner);
  const pages = await routineOf(service, owner, 'Page check');
  const before = { minutes: 4_000, outcome: 'nothing_to_report', result: 'All pages answer.' };
  await ended(service, pages, before);
  const report = await routineOf(service, owner, 'Weekly report');
  await ended(service, report, { minutes: 50, result: 'Sales 31' });
  await ended(service, pages, { minutes: 40, result: 'The sign-up page answers 404.' });
  await ended(service, pages, { ...before, minutes: 10, outcomeSummary: 'All six pages answer again.' });
  await fallDueOnce(service, owner);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  const text = mail?.text ?? '';
  expect(text).toContain('Page check - Over');
  expect(text).toMatch(/Over since .*: All six pages answer again\./);
  expect(text.indexOf('Weekly report')).toBeLessThan(text.indexOf('Page check'));
});

test('what was read, or is not new, makes no mail, and the digest goes on', async ({ service, mailbox, person }) => {
  const owner = await person();
  await choose(owner);
  const calm = await routineOf(service, owner, 'Site check');
  await ended(service, calm, { minutes: 4_000, result: 'All is calm.' });
  await ended(service, calm, { result: 'All is calm.' });
  const read = await routineOf(service, owner, 'Report');
  const runId = await ended(service, read, { result: 'News.' });
  const session = owner.session.with({ 'X-Project-Id': owner.projectId });
  await session.post('/v1/results/read', { runIds: [runId] });
  await fallDueOnce(service, owner);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  const { data } = await owner.session.get(digestOf(owner));
  expect(Date.parse(data.nextAt)).toBeGreaterThan(Date.now());
});

test('a routine that the service has stopped is news by itself, once', async ({ service, mailbox, person }) => {
  const owner = await person();
  await choose(owner);
  const id = await routineOf(service, owner, 'Old audit');
  await changeRoutines(service.deps.database, id, {
    state: 'paused',
    stateReason: 'paused after 5 failed runs in a row',
    updatedAt: ago('1 hour'),
  });
  await fallDueOnce(service, owner);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toBe('1 to look at: Default');
  expect(mail?.text).toContain('Old audit - Stopped by the service');
  expect(mail?.text).toContain('Paused after 5 failed runs in a row.');
  await changeRoutines(service.deps.database, id, { updatedAt: ago('3 days') });
  await fallDueOnce(service, owner);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
});

test('names and texts from outside stay text: in HTML, in the subject and in the lines', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  await owner.session.patch(`/v1/projects/${owner.projectId}`, { name: '</title><b>Bcc' });
  await choose(owner);
  const id = await routineOf(service, owner, '<img src=x onerror=alert(1)>"\'\u202Egnp\r\nBcc: x@y');
  await ended(service, id, {
    result: '<script>alert(1)</script>\n<a href="https://evil.example">click</a>\u{E0041}\u0007',
  });
  await fallDueOnce(service, owner);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.html).not.toMatch(/<img|<script|evil\.example"|onerror=alert\(1\)>/);
  expect(mail?.html).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  expect(mail?.html).toContain('<title>1 new result: &#60;/title&#62;&#60;b&#62;Bcc</title>');
  expect(mail?.text).toContain('<img src=x onerror=alert(1)>"\'gnp Bcc: x@ y - First result');
  expect(`${mail?.text}${mail?.html}`).not.toMatch(/\u202E|\p{Cc}(?<!\s)|\u{E0041}/u);
  expect(mail?.headers).not.toHaveProperty('bcc');
});

test('a long night is cut to what one mail can say', async ({ service, mailbox, person }) => {
  const owner = await person();
  await choose(owner);
  for (let number = 0; number < 30; number += 1) {
    const id = await routineOf(service, owner, `Routine ${number} ${'x'.repeat(300)}`);
    await ended(service, id, { result: 'Long. '.repeat(20_000) });
  }
  await fallDueOnce(service, owner);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toBe('30 new results: Default');
  expect(mail?.text.match(/First result/g)).toHaveLength(25);
  expect(mail?.text).toContain('5 more routines with news on Home.');
  expect(mail?.html.length).toBeLessThan(60_000);
});
