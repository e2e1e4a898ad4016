import { expect } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { runEnded } from '#test/support/routines.ts';
import { changeRoutines, fallDue, passProjectHour } from '#test/support/given.ts';
import { activeWatched, failedRun, failRuns, mailingTest, newsTo, sendNow, watchedRoutine } from './fixture.ts';

const test = mailingTest();

test('a routine is mailed of at most once an hour, and the summary of its project counts the rest', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Noisy' });
  const runs: { id: string }[] = [];
  for (let index = 0; index < 4; index += 1) runs.push(await failedRun(service, key, id));
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Failed: Noisy']);
  const states = async () => {
    const details = await Promise.all(runs.map((run) => key.get(`/v1/runs/${run.id}`)));
    return details.map(({ data }) => data.notifications.map(({ state }: { state: string }) => state));
  };
  expect(await states()).toEqual([['sent'], ['held'], ['held'], ['held']]);

  await passProjectHour(service.deps.database, owner.projectId);
  await failedRun(service, key, id);
  await sendNow(service);
  const subjects = (await newsTo(mailbox, owner)).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(['Failed: Noisy', 'Failed: Noisy', 'In the last hour: Default']);
  const summary = (await newsTo(mailbox, owner)).find(({ subject }) => subject.startsWith('In the last hour'));
  expect(summary?.text).toContain('The routine "Noisy" had news');
  expect(summary?.text).toContain('about a project: 3 × failed');
  expect(await states()).toEqual([['sent'], ['merged'], ['merged'], ['merged']]);
});

test('what was left out comes by itself when the hour is over and nothing else happens', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Quiet' });
  await failedRun(service, key, id);
  await failedRun(service, key, id);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
  await passProjectHour(service.deps.database, owner.projectId);
  await sendNow(service);
  await sendNow(service);
  const mails = await newsTo(mailbox, owner);
  expect(mails.map(({ subject }) => subject)).toEqual(['In the last hour: Default', 'Failed: Quiet']);
  expect(mails[0]?.text).toContain('1 × failed');
});

test('a failure that pauses its routine is one mail, which says so', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const id = await activeWatched(key, {
    name: 'Stopped',
    schedule: '0 0 1 1 *',
    pauseAfterFailures: 1,
  });
  failRuns(service);
  await fallDue(service, id);
  const { data: runs } = await key.get(`/v1/routines/${id}/runs?limit=1`);
  await runEnded(key, runs[0].id);
  service.gateway.control.reset();
  await service.deps.work.idle();
  const { data: run } = await key.get(`/v1/runs/${runs[0].id}`);
  expect(run.notifications).toMatchObject([{ kind: 'paused' }]);
  await sendNow(service);
  const [mail, ...others] = await newsTo(mailbox, owner);
  expect(others).toEqual([]);
  expect(mail?.subject).toBe('Failed, Paused: Stopped');
  expect(mail?.text).toContain('paused after 1 failed runs in a row');
});

test('runs that end at the same time make one mail', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const id = await watchedRoutine(key, { name: 'Burst' });
  failRuns(service);
  const started = await Promise.all(Array.from({ length: 8 }, () => key.post(`/v1/routines/${id}/run`)));
  for (const { data } of started) await runEnded(key, data.id);
  service.gateway.control.reset();
  await service.deps.work.idle();
  const ended = await Promise.all(started.map(async ({ data }) => (await key.get(`/v1/runs/${data.id}`)).data));
  const states = ended.flatMap(({ notifications }) => notifications.map(({ state }: { state: string }) => state));
  expect(states.filter((state) => state === 'held')).toHaveLength(7);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(1);
});

test('a routine that the service pauses for another reason is told of, with that reason', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await activeWatched(key, { name: 'Unreadable' });
  await changeRoutines(service.deps.database, id, { schedule: 'whenever', nextRunAt: null });
  await tick(service.deps);
  await sendNow(service);
  const [mail] = await newsTo(mailbox, owner);
  expect(mail?.subject).toBe('Paused: Unreadable');
  expect(mail?.text).toContain('its schedule has no computable next time');
});
