import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, routineBody } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

const NOTHING = { mail: null, successPingUrl: null };
const PING = 'https://monitor.example.com/ping/4f1c';

test('notifications of a routine are kept, changed field by field, and never material', async ({ key }) => {
  const id = await activeRoutine(key);
  const read = async () => (await key.get(`/v1/routines/${id}`)).data;
  expect((await read()).notifications).toEqual(NOTHING);
  const mail = { on: ['failed', 'recovered'], to: 'admins' };
  await key.patch(`/v1/routines/${id}`, { notifications: { mail } });
  const { status, data } = await key.patch(`/v1/routines/${id}`, {
    notifications: { successPingUrl: PING },
  });
  expect([status, data.state, data.revision]).toEqual([200, 'active', 1]);
  expect((await read()).notifications).toEqual({ mail, successPingUrl: PING });
  await key.patch(`/v1/routines/${id}`, { notifications: NOTHING });
  expect((await read()).notifications).toEqual(NOTHING);
});

test('where there is no mail server, settings are accepted and mailDelivery is unavailable', async ({ ada, key }) => {
  const mail = { on: ['failed'], to: 'owners' };
  const id = await createRoutine(key, { notifications: { mail } });
  const { data } = await key.get(`/v1/routines/${id}`);
  expect([data.notifications.mail, data.mailDelivery]).toEqual([mail, 'unavailable']);
  const project = await ada.session.get(`/v1/projects/${ada.projectId}`);
  expect(project.data).toMatchObject({
    notifications: { mail: { on: ['failed', 'paused'], to: 'owners' } },
    mailDelivery: 'unavailable',
  });
});

test('the notifications of a project are its owner’s and admins’ to change, and on record', async ({ ada }) => {
  const path = `/v1/projects/${ada.projectId}`;
  const mail = { on: ['paused'], to: [ada.userId] };
  expect((await ada.session.patch(path, { notifications: { mail } })).data.notifications).toEqual({
    mail,
  });
  expect((await ada.session.patch(path, { name: 'Renamed' })).data.notifications).toEqual({
    mail,
  });
  const { data: events } = await ada.session.get(`/v1/audit-events?organizationId=${ada.organizationId}`);
  expect(events).toContainEqual(
    expect.objectContaining({
      action: 'notifications.changed',
      targetId: ada.projectId,
      details: { on: ['paused'], to: [ada.userId] },
    }),
  );
  const off = await ada.session.patch(path, { notifications: { mail: null } });
  expect(off.data.notifications).toEqual({ mail: null });
});

test('unknown settings are refused, each with its path', async ({ key }) => {
  const wrong = [
    { mail: { on: ['sometimes'], to: 'owners' } },
    { mail: { on: ['failed', 'failed'], to: 'owners' } },
    { mail: { on: ['failed'], to: 'everybody' } },
    { mail: { on: ['failed'], to: [] } },
    { mail: { on: ['failed'] } },
    { mail: { on: ['failed'], to: 'owners', cc: 'x@example.com' } },
    { delivery: 'available' },
    { successPingUrl: 'x'.repeat(2_001) },
  ];
  for (const notifications of wrong) {
    const { status, body } = await key.post('/v1/routines', routineBody({ notifications }));
    expect([notifications, status]).toEqual([notifications, 400]);
    expect(body.error.message).toContain('notifications');
  }
});
