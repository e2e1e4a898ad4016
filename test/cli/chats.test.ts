import { expect } from 'vitest';
import { ROOMS } from '#dev/fakes/chats/server.ts';
import { chatTest } from '#test/core/delivery/chats/fixture.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { environmentOf, terminal, type TerminalOptions } from './terminal.ts';

const test = chatTest();

test('a chat is added, tested, listed and deleted by its name', async ({ chats, person }) => {
  const key = await (await person()).key();
  const user = await terminal();
  const ras = (args: readonly string[], options: TerminalOptions = {}) =>
    user.run(['chats', ...args], { ...options, env: environmentOf(key) });
  const unasked = await ras(['create', '#teas']);
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--url') });
  const created = await ras(['create', '#teas'], {
    isTerminal: true,
    answers: [['Address of its incoming webhook', `${ROOMS.slack}\r`]],
  });
  expect(created.code, created.stderr).toBe(0);
  expect(created.stdout).toMatch(/^Kind {2}slack$/m);
  expect(created.stdout + created.stderr).not.toContain('s3cret');
  const { json: listed } = await ras(['list']);
  expect(listed).toMatchObject([{ name: '#teas', host: 'hooks.slack.com', goneAt: null }]);
  expect((await ras(['test', '#teas'])).json).toMatchObject({ delivered: true });
  expect(chats.posted).toHaveLength(1);
  chats.next({ status: 200, body: 'invalid_payload' });
  const refused = await ras(['test', listed[0].id]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid_payload') });
  expect((await ras(['test', '#teass'])).stderr).toContain('Did you mean "#teas"?');
  expect((await ras(['delete', '#teas'])).code).toBe(2);
  expect((await ras(['delete', '#teas', '--yes'])).code).toBe(0);
  expect((await ras(['list'])).json).toEqual([]);
});

test('a result is shared for so many days, once the project allows it', async ({ person }) => {
  const owner = await person();
  const key = await owner.key();
  const user = await terminal();
  const ras = (args: readonly string[]) => user.run(args, { env: environmentOf(key) });
  const run = await runOnce(key, await createRoutine(key, { name: 'Teas' }));
  expect((await ras(['runs', 'share', run.id])).stderr).toContain('shares no results');
  await owner.session.patch(`/v1/projects/${owner.projectId}`, { sharedLinksEnabled: true });
  const { json: link } = await ras(['runs', 'share', 'Teas', '--days', '30']);
  expect(link.url).toMatch(/\/shared#[\w-]{43}$/);
  expect((Date.parse(link.expiresAt) - Date.parse(link.createdAt)) / 86_400_000).toBeCloseTo(30, 3);
  expect((await ras(['runs', 'share', run.id, '--days', '91'])).code).toBe(2);
});
