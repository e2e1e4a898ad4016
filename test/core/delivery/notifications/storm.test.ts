import { expect } from 'vitest';
import { passProjectHour } from '#test/support/given.ts';
import { runEnded } from '#test/support/routines.ts';
import { failRuns, mailingTest, newsTo, sendNow, watchedRoutine } from './fixture.ts';

const test = mailingTest();

test('a project in which much fails at once is mailed of ten failures, and of the others in one summary', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const ids = await Promise.all(
    Array.from({ length: 14 }, (_, index) => watchedRoutine(key, { name: `Noisy ${index}` })),
  );
  failRuns(service);
  // The mails about all second failures are held back too, by the hour of each routine.
  for (let round = 0; round < 2; round += 1) {
    const started = await Promise.all(ids.map((id) => key.post(`/v1/routines/${id}/run`)));
    for (const { data } of started) await runEnded(key, data.id);
  }
  service.gateway.control.reset();
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(10);

  await passProjectHour(service.deps.database, owner.projectId);
  await sendNow(service);
  await sendNow(service);
  const [digest, ...before] = await newsTo(mailbox, owner);
  expect(before).toHaveLength(10);
  expect(digest?.subject).toMatch(/^In the last hour: /);
  expect(digest?.text).toContain('14 routines had news');
  expect(digest?.text).toContain('18 × failed');

  await passProjectHour(service.deps.database, owner.projectId);
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(11);
});
