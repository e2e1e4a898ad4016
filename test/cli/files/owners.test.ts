import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { environmentOf, terminal } from '../terminal.ts';
import { folderFor, type Folder } from './folder.ts';

const test = serviceTest({ worker: true });

/** A caller in a project of its own for each test. */
const own = test.extend('own', async ({ service }) => (await signUp(service)).key());

const SKILL = '---\nname: Style\n---\nWrite short sentences, please.\n';

async function named(folder: Folder, name: string, ...lines: readonly string[]): Promise<Folder> {
  await folder.write('ras.yaml', [`version: 1`, `name: ${name}`, ...lines, ''].join('\n'));
  return folder;
}

own('of two folders of a project each sees, changes and archives only what it keeps', async ({ own: key }) => {
  const site = await named(await folderFor(key), 'site');
  const shop = await named(await folderFor(key), 'shop');
  for (const each of ['a', 'b', 'c']) await site.routine(each);
  await shop.routine('d');
  await site.ras(['apply', '--yes']);
  expect((await shop.ras(['apply', '--yes', '--prune'])).json.applied).toMatchObject([{ key: 'd', result: 'created' }]);
  expect((await site.plan()).code).toBe(0);

  await shop.routine('a', { name: 'Of the shop' });
  const taken = await shop.ras(['apply', '--yes']);
  expect(taken.code).toBe(1);
  expect(taken.stderr).toContain('routines/a.md: the routine "a" is kept by the folder named "site"');
  expect((await shop.ras(['apply', '--yes', '--take-over'])).code).toBe(0);
  const { data } = await key.get('/v1/routines?managedBy=files');
  const owners = data.map((each: Record<string, string>) => `${each['externalKey']} ${each['managedFrom']}`);
  expect(owners.toSorted()).toEqual(['a shop', 'b site', 'c site', 'd shop']);

  const pulled = await shop.ras(['pull']);
  expect(pulled.stderr).toContain('left out: the routine b is kept by the folder named "site"');
  expect((await shop.ras(['pull', 'b'])).code).toBe(1);
});

own('prune stops before most of what a folder keeps, and without a name', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  for (const each of ['a', 'b', 'c']) await folder.routine(each);
  await folder.ras(['apply', '--yes']);
  await folder.remove('routines/a.md');
  await folder.remove('routines/b.md');
  const stopped = await folder.ras(['apply', '--yes', '--prune']);
  expect(stopped.code).toBe(1);
  expect(stopped.stderr).toContain('--prune would remove 2 of the 3 that this folder keeps, so nothing was done.');
  expect((await folder.ras(['apply', '--yes', '--prune-all'])).json.applied).toMatchObject([
    { key: 'a', result: 'archived' },
    { key: 'b', result: 'archived' },
  ]);
  const nameless = await folderFor(key);
  await nameless.write('ras.yaml', 'version: 1\n');
  for (const each of ['x', 'y', 'z']) await nameless.routine(each);
  await nameless.ras(['apply', '--yes']);
  await nameless.remove('routines/x.md');
  expect((await nameless.ras(['apply', '--yes', '--prune'])).stderr).toContain('set name in ras.yaml');
});

own('a skill that a file or another routine names is not deleted', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  await folder.write('skills/style/SKILL.md', SKILL);
  await folder.write('skills/tone/SKILL.md', SKILL.replace('Style', 'Tone'));
  for (const each of ['a', 'b', 'c', 'd']) await folder.routine(each);
  await folder.routine('styled', { skills: '[style]' });
  await folder.ras(['apply', '--yes']);
  const { data: tones } = await key.get('/v1/skills?externalKey=tone');
  const other = await createRoutine(key, { name: 'By hand', skills: [tones[0].id] });
  await folder.removeFolder('skills');
  const planned = await folder.ras(['plan']);
  expect(planned.stdout).toContain(
    '- skill style  (has no file any more, and stays: it is named by routines/styled.md)',
  );
  const stopped = await folder.ras(['apply', '--yes', '--prune']);
  expect(stopped.code).toBe(1);
  expect(stopped.stderr).toContain('skill style (by routines/styled.md)');
  expect(stopped.stderr).toContain(`skill tone (by routine "By hand" (${other}))`);
  await folder.routine('styled');
  await key.delete(`/v1/routines/${other}`);
  expect((await folder.ras(['apply', '--yes', '--prune'])).json.applied).toMatchObject([
    { key: 'styled', result: 'changed' },
    { kind: 'skill', result: 'deleted' },
    { kind: 'skill', result: 'deleted' },
  ]);
});

own('an archived routine comes back as a draft with its history, unless its key is taken', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  for (const each of ['a', 'b', 'c']) await folder.routine(each);
  await folder.ras(['apply', '--yes', '--prove']);
  const { data: before } = await key.get('/v1/routines?externalKey=a');
  const { id } = before[0];
  await key.delete(`/v1/routines/${id}`);
  const user = await terminal();
  const env = environmentOf(key);
  const restored = await user.run(['routines', 'restore', id], { env });
  expect(restored).toMatchObject({
    code: 0,
    json: { id, state: 'draft', externalKey: 'a', revision: 2, archivedAt: null },
  });
  expect((await key.get(`/v1/routines/${id}/runs`)).data).toHaveLength(1);
  expect((await key.get(`/v1/routines/${id}/versions`)).data).toHaveLength(2);
  expect((await key.post(`/v1/routines/${id}/activate`)).body.error.code).toBe('successful_run_required');
  expect((await folder.plan()).code).toBe(0);

  await key.delete(`/v1/routines/${id}`);
  await folder.ras(['apply', '--yes']);
  const taken = await user.run(['routines', 'restore', id], { env });
  expect(taken.code).toBe(1);
  expect(taken.stderr).toContain('external_key_taken');
});

own('what was changed beside the files is named with its author, and can be refused', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  await folder.routine('a');
  await folder.ras(['apply', '--yes']);
  const { data } = await key.get('/v1/routines?externalKey=a');
  await key.patch(`/v1/routines/${data[0].id}`, { schedule: '0 9 * * 1' });
  const planned = await folder.ras(['plan']);
  expect(planned.stdout).toMatch(
    /changed beside the files by test at \d{4}-\d\d-\d\d \d\d:\d\d UTC; apply overwrites that/,
  );
  const { json } = await folder.plan();
  expect(json.changes).toMatchObject([{ key: 'a', drift: { by: 'test', at: expect.any(String) } }]);
  for (const command of [['plan'], ['apply', '--yes']]) {
    const refused = await folder.ras([...command, '--refuse-drift']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Changed beside the files since the last apply: routine a.');
  }
  expect((await key.get(`/v1/routines/${data[0].id}`)).data.schedule).toBe('0 9 * * 1');
  expect((await folder.ras(['apply', '--yes'])).code).toBe(0);
  expect((await key.get(`/v1/routines/${data[0].id}`)).data).toMatchObject({ driftedAt: null, driftedBy: null });
});

own('a file that is moved keeps the routine with its runs and its state', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  await folder.write('skills/style/SKILL.md', SKILL);
  await folder.routine('old', { skills: '[style]' });
  await folder.ras(['apply', '--yes', '--prove']);
  const { data } = await key.get('/v1/routines?externalKey=old');
  await folder.remove('routines/old.md');
  await folder.removeFolder('skills');
  await folder.write('skills/tone/SKILL.md', SKILL);
  await folder.routine('new', { skills: '[tone]' });
  const moves = ['moved:', '  - { from: old, to: new }', '  - { kind: skill, from: style, to: tone }'];
  await named(folder, 'site', ...moves);
  expect((await folder.ras(['plan'])).stdout).toContain('externalKey: "old" -> "new"');
  expect((await folder.ras(['apply', '--yes', '--prune'])).code).toBe(0);
  const { data: after } = await key.get('/v1/routines');
  expect(after).toMatchObject([{ id: data[0].id, externalKey: 'new', state: 'active', driftedAt: null }]);
  expect((await folder.plan()).code).toBe(0);
});

own('an environment puts its model, variables and webhook in the place of those of the files', async ({ own: key }) => {
  const folder = await named(
    await folderFor(key),
    'site',
    'environments:',
    '  staging:',
    '    model: { provider: gateway, modelId: fixture/free }',
    '    variables: { topic: staging, other: unused }',
    '    routines:',
    '      hooked: { webhookUrl: "https://staging.example.com/hook" }',
  );
  await folder.routine('plain', { variables: '{ topic: production }' }, 'Write of {{topic}}.');
  await folder.routine('hooked', { webhookUrl: 'https://example.com/hook' });
  expect((await folder.ras(['apply', '--yes', '--env', 'staging'])).code).toBe(0);
  const read = async (name: string) =>
    (await key.get(`/v1/routines/${(await key.get(`/v1/routines?externalKey=${name}`)).data[0].id}`)).data;
  expect(await read('plain')).toMatchObject({
    model: { modelId: 'fixture/free' },
    variables: { topic: 'staging' },
    webhookUrl: null,
  });
  expect(await read('hooked')).toMatchObject({ webhookUrl: 'https://staging.example.com/hook' });
  expect((await folder.plan('--env', 'staging')).code).toBe(0);
  expect((await folder.ras(['pull', '--env', 'staging', '--force'])).code).toBe(0);
  expect(await folder.read('routines/plain.md')).toContain('topic: production');
  const unknown = await folder.ras(['plan', '--env', 'stagign']);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean "staging"?') });
});

own(
  'the secret of a new webhook goes to a file that only its owner reads, and is overwritten by none',
  async ({ own: key }) => {
    const folder = await named(await folderFor(key), 'site');
    await folder.routine('a', { webhookUrl: 'https://example.com/hook' });
    const file = path.join(folder.folder, 'secrets.json');
    const applied = await folder.ras(['apply', '--yes', '--secrets-out', file]);
    const { a: secret } = JSON.parse(await readFile(file, 'utf8'));
    expect(secret).toMatch(/^whsec_/);
    expect(applied.stdout + applied.stderr).not.toContain(secret);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await folder.routine('b');
    expect((await folder.ras(['apply', '--yes', '--secrets-out', file])).stderr).toContain('is there already');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ a: secret });
  },
);

own('all faults are told at once, those that only the service knows too', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  await folder.routine('a', { schedule: '"61 * * * *"', timezone: 'Europe/Nowhere', skills: '[none]' }, 'Of {{b}}.');
  await folder.write('routines/b.md', '---\nname: B\nschedule: "61 * * * *"\n---\nOf {{c}}.\n');
  await folder.routine('c', { model: '{ provider: gateway, modelId: gpt-9 }', overlap: 'quue' });
  const { code, stderr } = await folder.ras(['plan', '--exit-code']);
  expect(code).toBe(1);
  for (const fault of [
    'routines/a.md:3:11: schedule: ',
    'routines/a.md:5:11: timezone: ',
    'routines/a.md:6:10: there is no skill "none"',
    'routines/a.md: instructions: no value for {{b}}',
    'routines/b.md:2:1: the field "model" is missing',
    'routines/b.md:3:11: schedule: ',
    'routines/b.md: instructions: no value for {{c}}',
    'routines/c.md:4:8: model: ',
    'routines/c.md:5:10: overlap: ',
  ]) {
    expect(stderr).toContain(fault);
  }
  expect((await key.get('/v1/routines')).data).toEqual([]);
});

own('a plan is text, JSON or Markdown, and its exit codes tell a change from a mistake', async ({ own: key }) => {
  const folder = await named(await folderFor(key), 'site');
  await folder.routine('a', { limits: '{ maxSteps: 4 }' }, 'Say ```this```.');
  expect(await folder.ras(['plan'])).toMatchObject({ code: 0, stderr: '' });
  expect((await folder.ras(['plan', '--exit-code'])).code).toBe(2);
  expect((await folder.ras(['plan', '--exit-code', '--nonsense'])).code).toBe(1);
  expect((await folder.ras(['plan', '--exit-code', '--format', 'yaml'])).code).toBe(1);
  await folder.ras(['apply', '--yes']);
  expect((await folder.plan()).json).toMatchObject({ owner: 'site', changes: [] });
  await folder.routine('a', { limits: '{ maxSteps: 6 }' }, 'Say ```that```.');
  const { stdout } = await folder.ras(['plan', '--format', 'markdown']);
  expect(stdout).toContain(
    '**ras plan · site: 0 to create, 1 to change, 0 without a file, 0 unchanged**\n\n````diff\n',
  );
  expect(stdout).toContain('limits.maxSteps *: 4 -> 6');
  expect(stdout).toContain('\n-      Say ```this```.\n+      Say ```that```.\n');
});
