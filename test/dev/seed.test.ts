import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seedDemo } from '#dev/seed.ts';
import { ApiClient } from '#test/support/client.ts';
import { startMailbox } from '#test/support/mail.ts';
import { runEnded } from '#test/support/routines.ts';
import { startService } from '#test/support/service.ts';
import { startEverythingServer } from '#test/tools/everything-server.ts';

const [mailbox, tools, dataDir] = await Promise.all([
  startMailbox(),
  startEverythingServer(),
  mkdtemp(path.join(tmpdir(), 'ras-seed-')),
]);
const service = await startService({ worker: true, env: mailbox.env });
afterAll(async () => {
  await service.close();
  await Promise.all([mailbox.stop(), tools.stop(), rm(dataDir, { recursive: true })]);
});

const options = {
  dataDir,
  uiOrigin: service.config.UI_ORIGIN,
  toolServer: tools.url,
  mail: mailbox.url,
};

test('a first run that takes long is left to its end, and what is then to do is said', async () => {
  const release = service.gateway.control.hold();
  const slow = await seedDemo(service.url, { ...options, patienceMs: 0 });
  expect(slow.leftToDo).toMatch(/"Daily site check" is still (queued|running)/);
  release();

  const key = new ApiClient(service.url, { Authorization: `Bearer ${slow.apiKey}` });
  const { data: runs } = await key.get('/v1/runs');
  expect((await runEnded(key, runs[0].id)).state).toBe('succeeded');
  const again = await seedDemo(service.url, options);
  expect(again).toEqual({ ...slow, leftToDo: expect.stringContaining('is a draft') });
  await key.post(`/v1/routines/${slow.routineId}/activate`);
  const active = await seedDemo(service.url, options);
  expect(active.leftToDo).toBeUndefined();
});

test('the demo routine is active once its first run has succeeded', async () => {
  await rm(path.join(dataDir, 'demo.json'));
  const demo = await seedDemo(service.url, options);
  expect(demo.leftToDo).toBeUndefined();
  const key = new ApiClient(service.url, { Authorization: `Bearer ${demo.apiKey}` });
  expect((await key.get(`/v1/routines/${demo.routineId}`)).data.state).toBe('active');
});
