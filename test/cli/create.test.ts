import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { environmentOf, terminal } from './terminal.ts';

const test = serviceTest().extend('ras', async ({ service }) => {
  const key = await (await signUp(service)).key();
  const user = await terminal();
  return (...args: string[]) => user.run(['routines', ...args], { env: environmentOf(key) });
});

const ZONE = ['--timezone', 'Europe/Berlin'] as const;

test('a sentence is drafted, shown, and saved where that is asked for', async ({ ras }) => {
  const sentence = 'Every Monday at 8, watch our competitors and say what changed';
  const { json } = await ras('create', sentence, ...ZONE, '--draft');
  expect(json).toMatchObject({ definition: { schedule: '0 8 * * 1', timezone: 'Europe/Berlin' } });
  expect((await ras('list')).json).toEqual([]);
  const asked = await ras('create', sentence, ...ZONE);
  expect(asked.stderr).toContain('give --yes');
  expect((await ras('list')).json).toEqual([]);
  const saved = await ras('create', sentence, ...ZONE, '--yes');
  expect(saved.json).toMatchObject({ state: 'draft', schedule: '0 8 * * 1', timezone: 'Europe/Berlin' });
});

test('a sentence without a time is not saved until one is given', async ({ ras }) => {
  const sentence = 'Watch our competitors every other Tuesday at 9';
  const open = await ras('create', sentence, ...ZONE, '--yes');
  expect(open.code).toBe(1);
  expect(open.stderr).toContain('is counted from a day');
  expect(open.stderr).toContain('give --schedule');
  const given = await ras('create', sentence, ...ZONE, '--yes', '--schedule', '0 9 * * 2');
  expect(given.json).toMatchObject({ state: 'draft', schedule: '0 9 * * 2' });
});

test('a blueprint takes the values of its slots', async ({ ras }) => {
  expect((await ras('blueprints')).json).toContainEqual(expect.objectContaining({ id: 'posts' }));
  const wrong = await ras('create', '--blueprint', 'posts', '--set', 'subject=bread', '--set', 'channel=Fax', '--yes');
  expect(wrong.stderr).toContain('must be one of');
  const values = ['--set', 'subject=bread', '--set', 'channel=X'];
  const saved = await ras('create', '--blueprint', 'posts', ...values, ...ZONE, '--yes');
  expect(saved.json).toMatchObject({ variables: { subject: 'bread', channel: 'X' }, state: 'draft' });
});

test('neither a sentence nor a blueprint, or both, is a fault of the command line', async ({ ras }) => {
  for (const args of [[], ['Check it', '--blueprint', 'posts'], ['Check it', '--set', 'a=b']]) {
    expect((await ras('create', ...args)).code).toBe(2);
  }
});
