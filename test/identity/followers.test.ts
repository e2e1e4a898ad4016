import { expect } from 'vitest';
import { openStream } from '#test/runs/event-source.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';

/** Without workers, so that a run stays queued and its stream open. */
const test = serviceTest().extend('queued', ({ service }) => async (person: Person) => {
  const key = await person.key();
  const routineId = await createRoutine(key);
  const { data } = await key.post(`/v1/routines/${routineId}/run`);
  const path = `/v1/runs/${data.id}/events`;
  const follow = (client: ApiClient) => openStream(`${service.url}${path}`, { ...client.headers });
  return { key, follow };
});

test('whoever may no longer watch a run is cut off: a revoked key, a removed person', async ({
  service,
  queued,
}) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${owner.organizationId}`;
  const { data } = await owner.session.post(`${path}/invitations`, { email: grace.email });
  await grace.session.post('/v1/invitations/accept', { token: data.token });
  const { key, follow } = await queued(owner);
  Object.assign(service.deps, { checkFollowersEveryMs: 50 });
  try {
    const byKey = await follow(key);
    const byPerson = await follow(grace.session.with({ 'X-Project-Id': owner.projectId }));
    const byOwner = await follow(owner.session);
    expect((await byKey.next()).data.state).toBe('queued');
    await owner.session.delete(`${path}/members/${grace.userId}`);
    const { data: keys } = await owner.session.get('/v1/api-keys');
    for (const { id } of keys) await owner.session.delete(`/v1/api-keys/${id}`);
    expect(await byKey.rest()).toEqual([]);
    const states = (await byPerson.rest()).map(({ data: run }) => run.state);
    expect(states).toEqual(['queued']);
    expect((await byOwner.next()).data.state).toBe('queued');
    byOwner.close();
  } finally {
    Object.assign(service.deps, { checkFollowersEveryMs: undefined });
  }
});

test('a credential follows twenty runs at a time, and another one still gets in', async ({
  service,
  queued,
}) => {
  const person = await signUp(service);
  const { key, follow } = await queued(person);
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(key)));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await follow(key);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  const other = await follow(person.session);
  expect(other.status).toBe(200);
  other.close();
  streams[0]!.close();
  await expect.poll(async () => (await follow(key)).status).toBe(200);
  for (const stream of streams) stream.close();
});
