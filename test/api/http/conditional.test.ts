import { expect } from 'vitest';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';

const test = serviceTest();

test('of two editors who saw the same version, the second is refused and overwrites nothing', async ({ key }) => {
  const id = await createRoutine(key);
  const seen = (await key.get(`/v1/routines/${id}`)).headers.get('etag')!;
  const edit = (name: string) => key.with({ 'If-Match': seen }).patch(`/v1/routines/${id}`, { name });
  const first = await edit('first');
  expect([first.status, first.data.name]).toEqual([200, 'first']);
  expect(first.headers.get('etag')).not.toBe(seen);
  expect(codeOf(await edit('second'))).toEqual([412, 'precondition_failed']);
  const now = await key.get(`/v1/routines/${id}`);
  expect([now.data.name, now.headers.get('etag')]).toEqual(['first', first.headers.get('etag')]);
});

test('of twenty editors at the same moment exactly one is let through', async ({ key }) => {
  const id = await createRoutine(key);
  const seen = (await key.get(`/v1/routines/${id}`)).headers.get('etag')!;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      key.with({ 'If-Match': seen }).patch(`/v1/routines/${id}`, { name: `editor ${index}` }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
});

test('without If-Match, and with a star, the last one wins', async ({ key }) => {
  const id = await createRoutine(key);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => key.patch(`/v1/routines/${id}`, { name: `${index}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  const star = await key.with({ 'If-Match': '*' }).patch(`/v1/routines/${id}`, { name: 'star' });
  expect(star.status).toBe(200);
});

test('any of several tags may match, and a weak or foreign one never does', async ({ key }) => {
  const id = await createRoutine(key);
  const tag = (await key.get(`/v1/routines/${id}`)).headers.get('etag')!;
  const edit = (value: string) => key.with({ 'If-Match': value }).patch(`/v1/routines/${id}`, { name: 'x' });
  for (const value of [`W/${tag}`, '"x"', 'nonsense', '"99"', '""']) {
    expect([value, ...codeOf(await edit(value))]).toEqual([value, 412, 'precondition_failed']);
  }
  expect((await edit(`"99", ${tag}`)).status).toBe(200);
});

test('every change of state gives a new tag', async ({ key }) => {
  const id = await createRoutine(key);
  const tag = async () => (await key.get(`/v1/routines/${id}`)).headers.get('etag');
  const before = await tag();
  await key.post(`/v1/routines/${id}/pause`);
  const paused = await tag();
  await key.delete(`/v1/routines/${id}`);
  expect(new Set([before, paused, await tag()]).size).toBe(3);
});

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error.code];
}
