import path from 'node:path';
import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { activeRoutine, createRoutine } from '#test/support/routines.ts';
import { folderFor } from './folder.ts';

const test = serviceTest({ worker: true });

/** A caller with a project for each test, so that a plan contains only the test's resources. */
const own = test.extend('own', async ({ service }) => (await signUp(service)).key());

own(
  'plan tells what is created, changed and unchanged; apply does it, and then there is nothing to do',
  async ({ own: key }) => {
    const folder = await folderFor(key);
    await folder.routine('weekly');
    await folder.write('skills/style/SKILL.md', '---\nname: Style\n---\nWrite short sentences, please.\n');
    await folder.routine('styled', { skills: '[style, seo-audit]' });
    const planned = await folder.ras(['plan', '--exit-code']);
    expect(planned.code).toBe(2);
    expect(planned.stdout).toContain('+ skill style  (new)\n\n+ routine styled  (new, a draft)');
    expect(planned.stdout).toContain('3 to create, 0 to change, 0 without a file, 0 unchanged');

    const applied = await folder.ras(['apply', '--yes']);
    expect(applied.stderr).toContain('routine weekly: created');
    expect(applied).toMatchObject({ code: 0, json: { proofs: [] } });
    const { data } = await key.get('/v1/routines?externalKey=styled');
    const { data: skills } = await key.get('/v1/skills?externalKey=style');
    expect(data).toMatchObject([{ state: 'draft', managedBy: 'files', skills: [skills[0].id, 'seo-audit'] }]);
    expect(await folder.ras(['plan', '--exit-code'])).toMatchObject({
      code: 0,
      stdout: '0 to create, 0 to change, 0 without a file, 3 unchanged\n',
    });
  },
);

own('a change is shown by field, with what returns it to draft; a text line by line', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('weekly', {}, 'First.\n\nSecond.\nThird.\n\n\nLast.');
  await folder.ras(['apply', '--yes', '--prove']);
  await folder.routine('weekly', { schedule: '0 8 * * *' }, 'First.\n\nSecond!\nThird.\n\n\nLast.');
  const { code, stdout } = await folder.ras(['plan', '--exit-code']);
  expect(code).toBe(2);
  expect(stdout).toBe(
    [
      '~ routine weekly  (active: returns to draft, and needs a new proof)',
      '    schedule: "0 7 * * *" -> "0 8 * * *"',
      '    instructions *:',
      '        First.',
      '',
      '      - Second.',
      '      + Second!',
      '        Third.',
      '',
      '        …',
      '',
      '0 to create, 1 to change, 0 without a file, 0 unchanged',
      '',
    ].join('\n'),
  );
  await folder.routine('weekly', { schedule: '0 8 * * *' }, 'First.\n\nSecond.\nThird.\n\n\nLast.');
  const { json } = await folder.plan();
  expect(json.changes).toMatchObject([{ action: 'update', returnsToDraft: false, fields: [{ field: 'schedule' }] }]);
  await folder.ras(['apply', '--yes']);
  const { data } = await key.get('/v1/routines?externalKey=weekly');
  expect(data).toMatchObject([{ state: 'active', schedule: '0 8 * * *' }]);
});

own(
  'a routine that was edited in the dashboard since the plan is left alone, and told with its fields',
  async ({ own: key }) => {
    const folder = await folderFor(key);
    await folder.routine('a');
    await folder.routine('b');
    await folder.ras(['apply', '--yes']);
    await folder.routine('a', { name: 'From file' });
    await folder.routine('b', { name: 'From file' });
    expect((await folder.plan('--out', 'plan.json')).code).toBe(2);
    const { data } = await key.get('/v1/routines?externalKey=a');
    await key.patch(`/v1/routines/${data[0].id}`, {
      instructions: 'Edited.',
      name: 'From the dashboard',
    });
    const { code, json, stderr } = await folder.ras(['apply', 'plan.json']);
    expect(code).toBe(1);
    expect(stderr).toContain('routine a: conflict: it was changed by someone else (name, instructions) since the plan');
    expect(json.applied).toMatchObject([
      { key: 'a', result: 'conflict' },
      { key: 'b', result: 'changed' },
    ]);
    const { data: after } = await key.get(`/v1/routines/${data[0].id}`);
    expect(after).toMatchObject({ name: 'From the dashboard', instructions: 'Edited.' });
  },
);

own('a run, a pause and an activation since the plan are no change of what files say', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a');
  await folder.ras(['apply', '--yes', '--prove']);
  await folder.routine('a', { name: 'Other' });
  await folder.ras(['plan', '--out', 'plan.json']);
  const { data } = await key.get('/v1/routines?externalKey=a');
  await key.post(`/v1/routines/${data[0].id}/pause`);
  expect(await folder.ras(['apply', 'plan.json'])).toMatchObject({
    code: 0,
    json: { applied: [{ result: 'changed' }] },
  });
  const { data: after } = await key.get(`/v1/routines/${data[0].id}`);
  expect(after).toMatchObject({ name: 'Other', state: 'paused' });
});

own('a plan is refused when files have changed since, and when it is none', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a');
  await folder.ras(['plan', '--out', 'plan.json']);
  await folder.routine('a', { name: 'Other' });
  const { code, stderr } = await folder.ras(['apply', 'plan.json']);
  expect(code).toBe(1);
  expect(stderr).toContain('The files have changed since the plan: routine a.');
  expect((await folder.ras(['apply', 'none.json'])).code).toBe(2);
  expect((await key.get('/v1/routines')).data).toEqual([]);
});

own(
  'two that apply at once never mix: each routine is as one of them wrote it, and the other says so',
  async ({ own: key }) => {
    const one = await folderFor(key);
    const two = await folderFor(key);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const [folder, word] of [
      [one, 'One'],
      [two, 'Two'],
    ] as const) {
      for (const name of names) await folder.routine(name, { name: word }, word);
    }
    for (const folder of [one, two]) await folder.ras(['plan', '--out', 'plan.json']);
    const both = await Promise.all([one, two].map((folder) => folder.ras(['apply', 'plan.json'])));
    for (const name of names) {
      const { data } = await key.get(`/v1/routines?externalKey=${name}`);
      expect(data).toHaveLength(1);
      const { data: whole } = await key.get(`/v1/routines/${data[0].id}`);
      expect(whole.instructions).toBe(whole.name);
      const results = both.map(({ json }) => json.applied.find((each: { key: string }) => each.key === name)?.result);
      expect(results.filter((result) => result === 'conflict')).toHaveLength(1);
    }
    expect(both.some(({ code }) => code === 1)).toBe(true);
  },
);

own('what Ctrl-C has broken off the next apply completes', async ({ own: key }) => {
  const folder = await folderFor(key);
  for (const name of ['a', 'b', 'c']) await folder.routine(name);
  const broken = await folder.ras(['apply', '--yes'], { interruptAt: 'routine a: created' });
  expect(broken.code).toBe(130);
  expect((await key.get('/v1/routines')).data.length).toBeLessThan(3);
  expect((await folder.ras(['apply', '--yes'])).code).toBe(0);
  expect((await key.get('/v1/routines')).data).toHaveLength(3);
  expect((await folder.plan()).code).toBe(0);
});

own('prune archives only what files keep', async ({ own: key }) => {
  const folder = await folderFor(key);
  await createRoutine(key, { name: 'By hand' });
  await createRoutine(key, { name: 'By a program', externalKey: 'program' });
  await folder.routine('kept');
  await folder.routine('gone');
  await folder.ras(['apply', '--yes']);
  await folder.remove('routines/gone.md');
  const planned = await folder.ras(['plan', '--exit-code']);
  expect(planned.code).toBe(2);
  expect(planned.stdout).toContain('- routine gone  (has no file any more; apply --prune archives it)');
  const left = await folder.ras(['apply', '--yes']);
  expect(left).toMatchObject({ code: 0, json: { applied: [] } });
  expect(left.stderr).toContain('Without a file, and left as they are: routine gone.');
  expect((await folder.ras(['apply', '--yes', '--prune'])).json.applied).toMatchObject([
    { key: 'gone', result: 'archived' },
  ]);
  const { data } = await key.get('/v1/routines');
  const open = data.filter(({ state }: { state: string }) => state !== 'archived');
  expect(open.map(({ name }: { name: string }) => name).toSorted()).toEqual(['By a program', 'By hand', 'Report']);
  expect((await folder.plan()).code).toBe(0);
});

own('a schedule that cannot be is told with its place, and nothing is applied', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a');
  await folder.routine('b', { schedule: 'at seven' });
  const { code, stderr } = await folder.ras(['apply', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/routines\/b\.md:3:11: schedule: (?!schedule)/);
  expect((await key.get('/v1/routines')).data).toEqual([]);
});

own('what the service would refuse is told with its place, and nothing is applied', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a', { model: '{ provider: gateway, modelId: no/such }' }, 'Write of {{topic}}.');
  await folder.routine('b');
  const { code, stderr } = await folder.ras(['apply', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toContain('routines/a.md:4:8: model: ');
  expect(stderr).toContain('routines/a.md: instructions: no value for {{topic}}');
  expect((await key.get('/v1/routines')).data).toEqual([]);
});

own('without a terminal apply asks nothing and wants --yes', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a');
  const { code, stderr } = await folder.ras(['apply']);
  expect(code).toBe(2);
  expect(stderr).toContain('--yes');
  expect((await key.get('/v1/routines')).data).toEqual([]);
});

own('files of another project are applied to none', async ({ own: key, bobsKey }) => {
  const folder = await folderFor(bobsKey);
  const { data } = await key.get('/v1/routines');
  expect(data).toEqual([]);
  await folder.routine('a');
  await folder.write('ras.yaml', 'version: 1\nproject: prj_01kx3k9y6wfd8r0v5m2c7t4q2a\n');
  const { code, stderr } = await folder.ras(['apply', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toContain('These files are for the project "prj_01kx3k9y6wfd8r0v5m2c7t4q2a", and the API key is for ');
});

own('apply tells what the service warns of', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a', { schedule: '0 9 1-7 * 1' });
  const { stderr, json } = await folder.ras(['apply', '--yes', '--json']);
  expect(stderr).toContain('The routine runs on the 1st to 7th, and also every Monday:');
  expect(JSON.stringify(json)).toContain('and also every Monday');
});

own('a webhook secret is written nowhere', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a', { webhookUrl: 'http://127.0.0.1:9999/hook' });
  const { stdout, stderr, code } = await folder.ras(['apply', '--yes']);
  expect(code).toBe(0);
  expect(stderr).toContain('Its webhook has a signing secret');
  await folder.remove('routines/a.md');
  await folder.ras(['pull']);
  const written = await Promise.all((await folder.list()).map((file) => folder.read(file)));
  expect(written.join('')).toContain('webhookUrl: http://127.0.0.1:9999/hook');
  const secret = /whsec_|ras_[A-Za-z0-9]{8}_/;
  for (const text of [...written, stdout, stderr]) expect(text).not.toMatch(secret);
});

own('pull keeps comments, and never writes over another text unasked', async ({ own: key }) => {
  const id = await activeRoutine(key, { name: 'Weekly report', instructions: 'One.' });
  const folder = await folderFor(key);
  expect((await folder.ras(['pull'])).json.pulled).toMatchObject([{ file: 'routines/weekly-report.md' }]);
  const { data } = await key.get(`/v1/routines/${id}`);
  expect(data).toMatchObject({ state: 'active', externalKey: 'weekly-report', managedBy: 'files' });
  const text = await folder.read('routines/weekly-report.md');
  expect(text).toBe(
    [
      '---',
      '# yaml-language-server: $schema=../.ras/routine.schema.json',
      '',
      'name: Weekly report',
      'schedule: 0 7 * * *',
      'model:',
      '  provider: gateway',
      '  modelId: fixture/writer-small',
      '---',
      'One.',
      '',
    ].join('\n'),
  );
  await folder.write('routines/weekly-report.md', text.replace('schedule:', '# Before work.\nschedule:'));
  await key.patch(`/v1/routines/${id}`, { schedule: '0 6 * * *', instructions: 'Two.' });
  const refused = await folder.ras(['pull']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('routines/weekly-report.md (schedule, instructions)');
  await folder.ras(['pull', '--force']);
  const forced = await folder.read('routines/weekly-report.md');
  expect(forced).toContain('# Before work.\nschedule: 0 6 * * *\n');
  expect(forced).toContain('---\nTwo.\n');
  expect((await folder.plan()).code).toBe(0);
});

own('a response that is lost on the way leaves nothing half, and nothing twice', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('a');
  await folder.routine('b');
  const fetchCut: typeof fetch = async (address, options) => {
    const response = await fetch(address, options);
    if (options?.method === 'PUT') throw new TypeError('cut');
    return response;
  };
  const cut = await folder.ras(['apply', '--yes'], { fetch: fetchCut });
  expect(cut.code).toBe(1);
  expect(cut.stderr).toContain('No connection to ');
  expect((await key.get('/v1/routines')).data).toHaveLength(1);
  expect((await folder.ras(['apply', '--yes'])).json.applied).toMatchObject([{ key: 'b', result: 'created' }]);
  expect((await key.get('/v1/routines')).data).toHaveLength(2);
  expect((await folder.plan()).code).toBe(0);
});

own('of a plan that was tampered with nothing is believed but versions', async ({ own: key }) => {
  const folder = await folderFor(key);
  const id = await createRoutine(key, { name: 'By hand', externalKey: 'hand' });
  await folder.routine('a');
  await folder.plan('--out', path.join(folder.folder, 'plan.json'));
  const plan = JSON.parse(await folder.read('plan.json'));
  const orphan = {
    ...plan.changes[0],
    key: 'hand',
    action: 'orphan',
    id,
    etag: '"1"',
    desired: null,
  };
  await folder.write('plan.json', JSON.stringify({ ...plan, changes: [...plan.changes, orphan] }));
  const file = path.join(folder.folder, 'plan.json');
  expect((await folder.ras(['apply', file, '--prune'])).code).toBe(0);
  expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('draft');
  for (const text of ['{}', '[]', 'null', '{"version":1,"project":null,"changes":[null]}']) {
    await folder.write('plan.json', text);
    expect((await folder.ras(['apply', file])).code).toBeGreaterThan(0);
  }
});

own('a change in the dashboard is drift until the files are applied or pulled', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.routine('weekly');
  await folder.ras(['apply', '--yes']);
  const read = async () => (await key.get('/v1/routines?externalKey=weekly')).data[0];
  const { id, name } = await read();
  const rename = (to: string) => key.patch(`/v1/routines/${id}`, { name: to });

  // After a rename and a rename back, the content equals the file, and the next apply removes the mark of drift.
  await rename('Another');
  await rename(name);
  expect((await read()).driftedAt).toEqual(expect.any(String));
  expect((await folder.plan()).code).toBe(2);
  expect((await folder.ras(['apply', '--yes'])).code).toBe(0);
  expect((await read()).driftedAt).toBeNull();
  expect((await folder.plan()).code).toBe(0);

  await rename('Another');
  expect((await folder.ras(['plan', '--exit-code'])).stdout).toContain('name: "Another" -> ');
  expect((await folder.ras(['pull', '--force'])).code).toBe(0);
  expect(await read()).toMatchObject({ name: 'Another', driftedAt: null });
  expect((await folder.plan()).code).toBe(0);
});

own('so is one of a skill', async ({ own: key }) => {
  const folder = await folderFor(key);
  await folder.write('skills/style/SKILL.md', '---\nname: Style\n---\nWrite short sentences.\n');
  await folder.ras(['apply', '--yes']);
  const read = async () => (await key.get('/v1/skills?externalKey=style')).data[0];
  const { id } = await read();
  const describe = (description: string | null) => key.patch(`/v1/skills/${id}`, { description });
  expect(await read()).toMatchObject({ managedBy: 'files', driftedAt: null });
  await describe(null);
  expect((await read()).driftedAt).toBeNull();
  await describe('Short.');
  await describe(null);
  expect((await read()).driftedAt).toEqual(expect.any(String));
  expect((await folder.plan()).code).toBe(2);
  expect((await folder.ras(['apply', '--yes'])).code).toBe(0);
  expect((await read()).driftedAt).toBeNull();
  expect((await folder.plan()).code).toBe(0);

  await describe('Short.');
  expect((await folder.ras(['pull', '--force'])).code).toBe(0);
  expect(await read()).toMatchObject({ description: 'Short.', driftedAt: null });
  expect((await folder.plan()).code).toBe(0);
});
