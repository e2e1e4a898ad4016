import { expect } from 'vitest';
import { forgetAuditEvents, listAuditEvents, recordAudit, SYSTEM } from '#core/foundation/audit/index.ts';
import { sql, transaction } from '#lib/database/index.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { plantAuditEvents } from '#test/support/given.ts';
import { newId } from '#lib/ids.ts';
import { buffersOf, explained } from '#test/support/plans.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true }).extend(
  'actions',
  ({ options: _options }) =>
    async (person: Person, query = '') => {
      const path = `/v1/audit-events?organizationId=${person.organizationId}${query}`;
      const { data } = await person.session.get(path);
      return data.map(({ action }: { action: string }) => action);
    },
);

test('where results go, what runs do and how long they are kept is on record, of addresses the host alone', async ({
  service,
}) => {
  const person = await signUp(service);
  const key = await person.key();
  const id = await createRoutine(key, { webhookUrl: 'https://old.example/hook?token=secret-1' });
  const routine = `/v1/routines/${id}`;
  await key.patch(routine, { webhookUrl: 'https://old.example/other?token=secret-2' });
  await key.patch(routine, { webhookUrl: 'https://evil.example/hook?token=secret-3' });
  await key.post(`${routine}/webhook-secret`);
  await key.post(`${routine}/webhook-secret`, { force: true });
  const successPingUrl = 'https://monitor.example/secret-4';
  await key.patch(routine, { notifications: { successPingUrl } });
  await key.patch(routine, { instructions: 'Something else.', name: 'Other' });
  await key.patch(routine, { name: 'Once more' });
  await key.post(`${routine}/versions/1/restore`);
  const run = await runOnce(key, id);
  for (const pinned of [true, true, false]) await key.patch(`/v1/runs/${run.id}`, { pinned });
  const project = `/v1/projects/${person.projectId}`;
  await person.session.patch(project, { runContentDays: 1 });
  await person.session.patch(project, { runContentDays: 1 });

  const path = `/v1/audit-events?organizationId=${person.organizationId}`;
  const { data } = await person.session.get(path);
  const told = data.map(({ action, targetId, details }: Told) => [action, targetId, details]);
  expect(told.toReversed().slice(2)).toEqual([
    ['webhook.changed', id, { from: 'old.example', to: 'old.example' }],
    ['webhook.changed', id, { from: 'old.example', to: 'evil.example' }],
    ['webhook_secret.rotated', id, { cutsOff: false }],
    ['webhook_secret.rotated', id, { cutsOff: true }],
    ['success_ping.changed', id, { from: null, to: 'monitor.example' }],
    ['routine.changed', id, { revision: 2, changed: ['instructions'], restoredFrom: null }],
    ['routine.changed', id, { revision: 3, changed: ['instructions'], restoredFrom: 1 }],
    ['run.pinned', run.id, { routineId: id }],
    ['run.unpinned', run.id, { routineId: id }],
    ['retention.changed', person.projectId, { runContentDays: 1, runDays: expect.any(Number) }],
  ]);
  expect(JSON.stringify(data)).not.toContain('secret-');
});

interface Told {
  readonly action: string;
  readonly targetId: string;
  readonly details: unknown;
}

test('each change leaves who did it, to what and from where, and nothing is left of one that failed', async ({
  service,
  actions,
}) => {
  const person = await signUp(service);
  const session = person.session.with({ 'X-Forwarded-For': '198.51.100.9' });
  const { data: made } = await session.post('/v1/api-keys', { name: 'nightly' });
  await session.delete(`/v1/api-keys/${made.id}`);
  await session.delete(`/v1/api-keys/${made.id}`);
  await session.patch(`/v1/projects/${person.projectId}`, {
    budget: { maxTokensPerDay: 5_000_000 },
  });
  await session.patch(`/v1/projects/${person.projectId}`, {
    budget: { maxTokensPerDay: 5_000_000 },
  });
  const key = await person.key();
  const routineId = await activeRoutine(key);
  await key.post(`/v1/routines/${routineId}/pause`);
  await key.patch(`/v1/routines/${routineId}`, { budget: { maxTokensPerDay: 7 } });
  expect(await actions(person)).toEqual([
    'budget.changed',
    'routine.paused',
    'routine.activated',
    'api_key.created',
    'budget.changed',
    'api_key.revoked',
    'api_key.created',
    'organization.created',
  ]);
  const path = `/v1/audit-events?organizationId=${person.organizationId}`;
  const { data } = await session.get(`${path}&targetId=${made.id}`);
  expect(data.map(({ action }: { action: string }) => action)).toEqual(['api_key.revoked', 'api_key.created']);
  expect(data[1]).toEqual({
    id: expect.stringMatching(/^aud_/),
    organizationId: person.organizationId,
    projectId: person.projectId,
    actor: {
      kind: 'person',
      id: person.userId,
      name: 'Test Person',
      address: '198.51.100.9',
    },
    action: 'api_key.created',
    targetId: made.id,
    details: { name: 'nightly', scopes: made.scopes, expiresAt: null },
    createdAt: expect.any(String),
  });
  expect(JSON.stringify(data)).not.toContain(made.key);
  const paused = await session.get(`${path}&action=routine.paused`);
  expect(paused.data[0].actor).toMatchObject({ kind: 'key', name: 'test' });
  const byKey = await session.get(`${path}&actorId=${paused.data[0].actor.id}`);
  expect(byKey.data.map(({ action }: { action: string }) => action)).toEqual([
    'budget.changed',
    'routine.paused',
    'routine.activated',
  ]);
});

test('what takes a routine off its schedule is on record: a change of its text, and its archival', async ({
  service,
  actions,
}) => {
  const person = await signUp(service);
  const key = await person.key();
  const path = `/v1/routines/${await activeRoutine(key)}`;
  await key.patch(path, { name: 'Another name' });
  await key.patch(path, { instructions: 'Write two lines.' });
  // The routine is a draft by now and has no schedule that this change could stop.
  await key.patch(path, { instructions: 'Write three lines.' });
  await key.delete(path);
  await key.delete(path);
  expect(await actions(person)).toEqual([
    'routine.archived',
    'routine.changed',
    'routine.deactivated',
    'routine.changed',
    'routine.activated',
    'api_key.created',
    'organization.created',
  ]);
});

test('the organization that a sign-in makes names the person and their address', async ({ service }) => {
  const { session, userId, organizationId } = await signUp(service);
  const path = `/v1/audit-events?organizationId=${organizationId}&action=organization.created`;
  const { data } = await session.get(path);
  expect(data.map(({ actor }: { actor: object }) => actor)).toEqual([
    {
      kind: 'person',
      id: userId,
      name: 'Test Person',
      address: expect.stringMatching(/^203\.0\.\d+\.\d+$/),
    },
  ]);
});

test('owners and admins read them, members and strangers do not', async ({ service, bob }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const organization = `/v1/organizations/${owner.organizationId}`;
  const { data } = await owner.session.post(`${organization}/invitations`, { email: grace.email });
  await grace.session.post('/v1/invitations/accept', { token: data.token });
  const path = `/v1/audit-events?organizationId=${owner.organizationId}`;
  expect((await owner.session.get(path)).status).toBe(200);
  expect((await grace.session.get(path)).body.error.code).toBe('forbidden');
  expect((await bob.session.get(path)).body.error.code).toBe('organization_not_found');
});

test('they are paged, newest first', async ({ service }) => {
  const person = await signUp(service);
  for (const name of ['a', 'b', 'c']) await person.session.post('/v1/api-keys', { name });
  const path = `/v1/audit-events?organizationId=${person.organizationId}&limit=2`;
  const first = await person.session.get(path);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
  const second = await person.session.get(next!.replace(service.config.PUBLIC_URL, ''));
  const names = [...first.data, ...second.data].map(({ details }) => details.name);
  expect(names.slice(0, 3)).toEqual(['c', 'b', 'a']);
});

test('an event cannot be altered, goes with the change that is undone, and ends with its time', async ({ service }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const entry = {
    organizationId: person.organizationId,
    by: SYSTEM,
    action: 'plan.changed',
    targetId: person.organizationId,
  } as const;
  const undone = transaction(database, async (tx) => {
    await recordAudit(tx, entry);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  const where = sql`organization_id = ${person.organizationId}`;
  const kept = () => database.rows`select action from audit_events where ${where}`;
  expect(await kept()).toEqual([{ action: 'organization.created' }]);
  const altered = database.run`update audit_events set actor_id = 'x' where ${where}`;
  await expect(altered).rejects.toThrow('append-only');
  await forgetAuditEvents(database, 1, 1_000);
  expect(await kept()).toHaveLength(1);
  await database.run`delete from audit_events where ${where}`;
  await database.run`
    insert into audit_events (id, organization_id, actor_kind, action, target_id, created_at)
    values (${person.organizationId}, ${person.organizationId}, 'system', 'x', 'x', now() - interval '25 hours')
  `;
  await forgetAuditEvents(database, 1, 1_000);
  expect(await kept()).toEqual([]);
});

test('the events of a target are found without reading those of all others', async () => {
  const testDatabase = await createTestDatabase();
  try {
    const { database, url } = testDatabase;
    const organizationId = newId('organization');
    await plantAuditEvents(database, organizationId, 20_000);
    await database.query('vacuum analyze audit_events');
    const filter = { organizationId, targetId: 'rtn_of_nothing' };
    const page = { limit: 100, after: undefined };
    const plans = await explained(url, (db) => listAuditEvents(db, filter, page));
    expect(buffersOf(plans)).toBeLessThan(20);
    const one = { organizationId, targetId: 'target 7' };
    const found = await listAuditEvents(database, one, page);
    expect(found).toHaveLength(20);
    expect(found.map(({ id }) => id)).toEqual(
      found
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
  } finally {
    await testDatabase.drop();
  }
});
