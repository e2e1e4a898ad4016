import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import {
  activeWatched,
  EVERYTHING,
  failedRun,
  failRuns,
  mailingTest,
  newsTo,
  outboxOf,
  passHour,
  REFUSED,
  sendNow,
  watchedRoutine,
} from './fixture.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { fallDue, spendToday } from '#test/support/given.ts';
import { marker, routineWith, scriptCalls } from '#test/core/integrations/tools/support.ts';

const test = mailingTest();

test('a run that fails is mailed to who subscribed, with its reason and its page, and not what was said', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Weekly audit', instructions: 'Secret plans.' });
  const run = await failedRun(service, key, id);
  expect(run.notifications).toEqual([
    expect.objectContaining({ kind: 'failed', state: 'pending', attempts: 0, error: null }),
  ]);
  await sendNow(service);

  const [mail, ...others] = await newsTo(mailbox, owner);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('Failed: Weekly audit');
  expect(mail?.text).toContain('content_filtered');
  expect(mail?.text).toContain(`${service.config.UI_ORIGIN}/p/${owner.projectId}/runs/${run.id}`);
  expect(mail?.text).not.toContain('Secret plans');
  expect(mail?.text).not.toContain(REFUSED);
  const [message] = await outboxOf(service, owner.projectId);
  expect(mail?.headers).toMatchObject({
    'message-id': `<${message?.id}@example.com>`,
    'auto-submitted': 'auto-generated',
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  });
  // The text of a sent mail is deleted.
  expect(message).toMatchObject({ state: 'sent', content: null });
  const { data } = await key.get(`/v1/runs/${run.id}`);
  const masked = owner.email.replace(/^(.).*@/, '$1***@');
  expect(data.notifications).toEqual([
    {
      kind: 'failed',
      to: masked,
      state: 'sent',
      at: expect.any(String),
      attempts: 1,
      nextAttemptAt: null,
      error: null,
    },
  ]);
});

test('an answer that fails is no failure of its routine: no one is mailed, and the next failure is the first', async ({
  service,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key);
  const result = await runOnce(key, id);
  failRuns(service);
  const asked = await key.post(`/v1/runs/${result.id}/follow-up`, { message: 'Why?' });
  const answer = await runEnded(key, asked.data.id);
  service.gateway.control.reset();
  await service.deps.work.idle();
  expect([answer.state, await outboxOf(service, owner.projectId)]).toEqual(['failed', []]);
  const run = await failedRun(service, key, id);
  expect(run.notifications).toMatchObject([{ kind: 'failed' }]);
});

test('names that people chose make no link in a mail of the operator', async ({ service, mailbox, person }) => {
  const owner = await person();
  await owner.session.patch(`/v1/projects/${owner.projectId}`, { name: 'Pay at evil.example/now' });
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Overdue: https://evil.example/pay @once' });
  await failedRun(service, key, id);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toBe('Failed: Overdue: https: / /evil. example/pay @once');
  expect(mail?.text).toContain('in the project "Pay at evil. example/now"');
  expect(mail?.text.match(/https?:\/\/\S+/g)?.every((url) => !url.includes('evil'))).toBe(true);
});

test('the first success after failures is told of, once', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Audit' });
  await runOnce(key, id);
  await failedRun(service, key, id);
  await sendNow(service);
  await passHour(service, id);
  await runOnce(key, id);
  await passHour(service, id);
  await runOnce(key, id);
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Works again: Audit', 'Failed: Audit']);
});

test('a routine without settings follows its project, and one that wants none is left alone', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const settings = { on: ['failed'], to: [owner.userId] };
  const patched = await owner.session.patch(`/v1/projects/${owner.projectId}`, {
    notifications: { mail: settings },
  });
  expect(patched.data).toMatchObject({
    notifications: { mail: settings },
    mailDelivery: 'available',
  });
  const follows = await createRoutine(key, { name: 'Follows' });
  const silent = await createRoutine(key, {
    name: 'Silent',
    notifications: { mail: { on: [], to: 'owners' } },
  });
  await failedRun(service, key, silent);
  await failedRun(service, key, follows);
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Failed: Follows']);
});

test('80 and 100 % of a budget are told of once each in a period', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Spender', budget: { maxTokensPerDay: 100_000 } });
  const spend = async (tokens: number) => {
    await runOnce(key, id);
    await service.deps.work.idle();
    await spendToday(service.deps.database, id, tokens);
    await runOnce(key, id);
    await passHour(service, id);
    await sendNow(service);
  };
  await spend(79_000);
  expect(await newsTo(mailbox, owner)).toEqual([]);
  await spend(80_000);
  await spend(81_000);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Budget at 80 %: Spender']);
  await spendToday(service.deps.database, id, 99_000);
  service.gateway.control.script({
    times: 1,
    behaviour: {
      kind: 'usage',
      usage: { prompt_tokens: 700, completion_tokens: 100, total_tokens: 800 },
    },
  });
  await runOnce(key, id);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toBe('Budget used up: Spender');
  expect(mail?.text).toContain('used up its budget for the tokens of this day (UTC)');
});

test('the budget of a project is told to who follows the project, once, whichever routine spends', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  await owner.session.patch(`/v1/projects/${owner.projectId}`, {
    budget: { maxTokensPerDay: 50_000 },
    notifications: { mail: EVERYTHING },
  });
  const ids = [await createRoutine(key), await createRoutine(key)];
  await runOnce(key, ids[0]!);
  await spendToday(service.deps.database, owner.projectId, 45_000);
  for (const id of ids) await runOnce(key, id);
  await sendNow(service);
  const mails = await newsTo(mailbox, owner);
  expect(mails.map(({ subject }) => subject)).toEqual(['Budget at 80 %: Test routine']);
  expect(mails[0]?.text).toContain('The project has used 80 % of its budget');
});

test('a run that the next occurrence replaces is no failure, and causes no mail', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const fields = { instructions: 'Replaced by the next.', overlap: 'cancel_previous' };
  const id = await activeWatched(key, fields);
  service.gateway.control.script({ marker: fields.instructions, latencyMs: 60_000 });
  const { data: replaced } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(async () => (await key.get(`/v1/runs/${replaced.id}`)).data.state).toBe('running');
  await fallDue(service, id);
  expect(await runEnded(key, replaced.id)).toMatchObject({
    state: 'cancelled',
    reason: 'replaced',
    notifications: [],
  });
  const [next] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
  expect((await runEnded(key, next.id)).state).toBe('succeeded');
  await sendNow(service);
  // The success after a replaced run does not count as the first success after failures.
  expect(await newsTo(mailbox, owner)).toEqual([]);
});

test('a run that says it is only partly done is told of, and a run that is done is not', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Halfway', outcome: 'required' });
  for (const outcome of ['done', 'partial']) {
    const finish = { name: 'finish', arguments: { outcome, summary: 'Two of four pages.' } };
    service.gateway.control.script({
      behaviour: { kind: 'tool-calls', calls: [finish], text: 'x' },
    });
    expect((await runOnce(key, id)).outcome).toBe(outcome);
  }
  await sendNow(service);
  const mails = await newsTo(mailbox, owner);
  expect(mails.map(({ subject }) => subject)).toEqual(['Partly done: Halfway']);
  expect(mails[0]?.text).not.toContain('Two of four pages');
});

test('a run that did its work without its tools is mailed as such, and as no recovery', async ({
  service,
  mailbox,
  person,
}) => {
  const tools = await startHostileTools();
  try {
    const owner = await person();
    const key = await owner.key();
    const mark = marker();
    const { routineId } = await routineWith(key, ['lookup'], {
      connection: { url: tools.url('honest') },
      routine: { name: 'Site audit', instructions: mark, notifications: { mail: EVERYTHING } },
    });
    await failedRun(service, key, routineId);
    await sendNow(service);
    await passHour(service, routineId);
    tools.control.answer = () => ({ content: [], isError: true });
    scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'pages' } });
    expect((await runOnce(key, routineId)).warnings).toEqual(['tools_failed']);
    await sendNow(service);
    const mails = await newsTo(mailbox, owner);
    expect(mails.map(({ subject }) => subject)).toEqual(['Partly done: Site audit', 'Failed: Site audit']);
    expect(mails[0]?.text).toContain('A run ended without its tools: every call to the tools of a connection failed');
  } finally {
    await tools.stop();
  }
});

test.for<[string, (key: ApiClient, path: string) => Promise<unknown>]>([
  ['is paused first', (key, path) => key.post(`${path}/pause`)],
  ['is made a draft first', (key, path) => key.patch(path, { instructions: 'Write two lines.' })],
])(
  'the owners are mailed that results go elsewhere also where the routine %s',
  async ([, before], { service, mailbox, person }) => {
    const owner = await person();
    const key = await owner.key();
    const path = `/v1/routines/${await activeRoutine(key, { name: 'Weekly audit', webhookUrl: 'https://old.example/' })}`;
    await before(key, path);
    expect((await key.patch(path, { webhookUrl: 'https://evil.example/hook' })).status).toBe(200);
    await sendNow(service);
    expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual([
      'Results go elsewhere: Weekly audit',
    ]);
  },
);

test('no one is mailed of the webhook of a routine that has never been active', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await createRoutine(key, { webhookUrl: 'https://old.example/' });
  expect((await key.patch(`/v1/routines/${id}`, { webhookUrl: 'https://new.example/' })).status).toBe(200);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);
});

test('the owners are mailed when the results of an active routine go to another host, also the unsubscribed ones', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const webhookUrl = 'https://old.example/hook?token=secret';
  const id = await activeRoutine(key, { name: 'Weekly audit', webhookUrl });
  const move = (url: string) => key.patch(`/v1/routines/${id}`, { webhookUrl: url });
  await move('https://old.example/other?token=secret');
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toEqual([]);

  await move('https://evil.example/hook?token=secret');
  await sendNow(service);
  const [mail, ...others] = await newsTo(mailbox, owner);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('Results go elsewhere: Weekly audit');
  expect(mail?.text).toContain('went to old. example and go to evil. example');
  expect(mail?.text).not.toContain('secret');
  expect(mail?.text).not.toContain('No more mail');
});
