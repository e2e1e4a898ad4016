import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine } from '#test/support/routines.ts';
import { environmentOf, terminal, type TerminalOptions } from './terminal.ts';

const test = serviceTest({ worker: true }).extend('ras', ({ key }) => as(key));

async function as(caller: ApiClient) {
  const user = await terminal();
  const env = environmentOf(caller);
  return (args: readonly string[], options: TerminalOptions = {}) =>
    user.run(args, { ...options, env: { ...env, ...options.env } });
}

test('lists are tables on a terminal, in bold unless NO_COLOR is set, and JSON elsewhere', async ({ bob }) => {
  const key = await bob.key();
  const ras = await as(key);
  const name = 'A name that is much longer than the narrow terminal has room for';
  const id = await createRoutine(key, { name });
  const wide = await ras(['routines', 'list'], { isTerminal: true });
  const [head = ''] = wide.stdout.split('\n');
  expect(stripVTControlCharacters(head)).toMatch(/^ROUTINE +NAME +STATE +SCHEDULE$/);
  expect(head).toContain('\u001B[1m');
  expect(wide.stdout).toContain(name);
  const narrow = await ras(['routines', 'list'], {
    isTerminal: true,
    columns: 80,
    env: { NO_COLOR: '1' },
  });
  const lines = narrow.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(narrow.stdout).not.toContain('\u001B');
  expect(narrow.stdout).toContain('…');
  const unknown = await ras(['routines', 'list'], { isTerminal: true, columns: 0 });
  expect(unknown.stdout).toContain(name);
  for (const options of [{}, { isTerminal: true }]) {
    const { json } = await ras(['routines', 'list', ...(options.isTerminal ? ['--json'] : [])], options);
    expect(json).toMatchObject([{ id, name, state: 'draft' }]);
  }
  expect((await ras(['routines', 'list', '--state', 'active'])).json).toEqual([]);
  const none = await ras(['routines', 'list', '--state', 'active'], { isTerminal: true });
  expect(none).toMatchObject({ stdout: '', stderr: 'There are none.\n' });
});

test('a pipe gets text where it is asked for, and JSON of chosen fields', async ({ bob }) => {
  const key = await bob.key();
  const ras = await as(key);
  const id = await createRoutine(key, { name: 'Piped', instructions: 'Write one line.' });
  const table = await ras(['routines', 'list', '--text']);
  expect(table.stdout).toMatch(/^ROUTINE +NAME/);
  expect(table.stdout).not.toContain('\u001B');
  const run = await ras(['run', id, '--wait', '--text']);
  expect(run.stdout).not.toMatch(/^\{/);
  expect(run.stderr).toMatch(/succeeded.* · 1 model step · \d+ tokens/);
  const { json } = await ras(['runs', 'list', '--fields', 'state,usage.totalTokens', '--limit', '1'], {
    isTerminal: true,
  });
  expect(json).toEqual([{ state: 'succeeded', 'usage.totalTokens': expect.any(Number) }]);
  const unknown = await ras(['routines', 'get', id, '--fields', 'id,nmae']);
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/no field "nmae".*\n.* name,/) });
  expect(await ras(['routines', 'list', '--text', '--json'])).toMatchObject({ code: 2 });
  const { json: opened } = await ras(['routines', 'get', id, '--json', '--fields', 'name']);
  expect(opened).toEqual({ name: 'Piped' });
  expect((await ras(['version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('keys of routines and skills are completed where they belong', async ({ bob }) => {
  const key = await bob.key();
  const ras = await as(key);
  await createRoutine(key, { name: 'Named', externalKey: 'site-check' });
  const id = await createRoutine(key, { name: 'Without a key' });
  const completed = async (...words: string[]) => (await ras(['__complete', '--', ...words])).stdout;
  expect(await completed('routines', 'pause', 'site')).toBe('site-check\n');
  expect((await completed('run', 'rtn_')).split('\n')).toContain(id);
  expect(await completed('skills', 'get', 'seo-a')).toContain('seo-audit');
  expect(await completed('runs', 'list', '--state', 'site')).toBe('');
  const away = { env: { RAS_API_URL: 'http://127.0.0.1:9' } };
  expect(await ras(['__complete', '--', 'run', 's'], away)).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('a list says when it is not the whole', async ({ ada }) => {
  const key = await ada.key();
  const ras = await as(key);
  for (const name of ['One', 'Two', 'Three']) await createRoutine(key, { name });
  const { json, stderr } = await ras(['routines', 'list', '--limit', '2']);
  expect(json).toHaveLength(2);
  expect(stderr).toBe('These are the first 2; --limit shows more.\n');
  expect(await ras(['routines', 'list', '--limit', '0'])).toMatchObject({ code: 2 });
});

test('a routine is shown, paused, activated and archived', async ({ key, ras }) => {
  const id = await activeRoutine(key, { name: 'Watch', instructions: 'Look\u001B[31m here.' });
  const shown = await ras(['routines', 'get', id], { isTerminal: true });
  expect(shown.stdout).toMatch(/^Name {6}Watch$/m);
  expect(shown.stdout).toMatch(/^Schedule {2}Every .*, UTC \(.+\)$/m);
  expect(shown.stdout).toMatch(/\n\nLook here\.\n$/);
  expect((await ras(['routines', 'pause', id])).json).toMatchObject({ id, state: 'paused' });
  expect((await ras(['routines', 'activate', id])).json).toMatchObject({ id, state: 'active' });
  const { json: versions } = await ras(['routines', 'versions', id]);
  expect(versions).toMatchObject([{ revision: 1 }]);

  const unasked = await ras(['routines', 'archive', id]);
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect((await ras(['routines', 'get', id])).json.state).toBe('active');
  const declined = await ras(['routines', 'archive', id], {
    isTerminal: true,
    answers: [['Archive "Watch"?', 'n']],
  });
  expect(declined).toMatchObject({ code: 1, stdout: '' });
  expect(declined.stderr).toContain('Archive "Watch"?');
  expect((await ras(['routines', 'get', id])).json.state).toBe('active');
  const archived = await ras(['routines', 'archive', id, '--yes']);
  expect(archived).toMatchObject({ code: 0, json: { id, state: 'archived' } });
});

test('what the service refuses is told with its code and the id of the request', async ({ key, ras }) => {
  const id = await createRoutine(key);
  const { code, stdout, stderr } = await ras(['routines', 'activate', id]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^Error: .+ \(successful_run_required, [\w-]+\)$/m);
});

test('skills are listed and read, a custom one by its name and a curated one by its slug', async ({ key, ras }) => {
  const { data: own } = await key.post('/v1/skills', {
    name: 'House style',
    instructions: 'Write short sentences.',
  });
  const { json } = await ras(['skills', 'list', '--limit', '200']);
  expect(json[0]).toMatchObject({ id: own.id, name: 'House style' });
  const curated = json.find(({ id }: { id: string | null }) => id === null);
  expect((await ras(['skills', 'get', 'House style'])).json.id).toBe(own.id);
  expect((await ras(['skills', 'get', curated.slug])).json.name).toBe(curated.name);
  const shown = await ras(['skills', 'get', own.id], { isTerminal: true });
  expect(shown.stdout).toContain('\n\nWrite short sentences.\n');
  const unknown = await ras(['skills', 'get', 'House stile']);
  expect(unknown.stderr).toContain('Did you mean "House style"?');
});

test('connections and usage are shown', async ({ ada }) => {
  const key = await ada.key();
  const ras = await as(key);
  expect(await ras(['connections', 'list'])).toMatchObject({ code: 0, json: [] });
  const id = await activeRoutine(key, { name: 'Counted' });
  const { json } = await ras(['usage', '--by', 'routine']);
  expect(json.groups.map((group: { key: string }) => group.key)).toContain(id);
  const shown = await ras(['usage', '--by', 'routine'], { isTerminal: true });
  expect(shown.stdout).toMatch(/^Counted +1 +\d+ /m);
  expect(shown.stderr).toMatch(/^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d: \d+ tokens/);
  expect(await ras(['usage', '--from', 'yesterday'])).toMatchObject({ code: 2 });
});

test('a command that does not exist is answered with the nearest, and exits with 2', async ({ ras }) => {
  const unknown = await ras(['routine']);
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('routines');
  expect(await ras(['routines', 'list', '--stat', 'active'])).toMatchObject({ code: 2 });
  expect(await ras(['routines', 'list', '--state', 'gone'])).toMatchObject({ code: 2 });
  expect(await ras(['--help'])).toMatchObject({ code: 0, stderr: '' });
  expect((await ras(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('open starts the browser at the page, and writes its address where stdout is piped', async ({ key, service }) => {
  const user = await terminal();
  const env = environmentOf(key);
  const id = await createRoutine(key, { name: 'To be opened' });
  const page = `${service.config.UI_ORIGIN}/routines/${id}`;
  await user.run(['open', 'To be opened'], { env, isTerminal: true });
  await user.run(['open'], { env, isTerminal: true });
  expect(user.opened).toEqual([page, `${service.config.UI_ORIGIN}/`]);
  expect(await user.run(['open', id], { env })).toMatchObject({ code: 0, stdout: `${page}\n` });
  expect(user.opened).toHaveLength(2);
});
