import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { discovered } from '#test/core/integrations/tools/support.ts';
import { environmentOf } from '../terminal.ts';
import { folderFor } from './folder.ts';

const test = serviceTest({ worker: true }).extend('own', async ({ service }) => (await signUp(service)).key());

test('apply --prove runs each draft once, activates it, and lets alone what is proven', async ({ own }) => {
  const folder = await folderFor(own);
  await folder.routine('a');
  await folder.routine('b');
  const first = await folder.ras(['apply', '--yes', '--prove']);
  expect(first.code).toBe(0);
  expect(first.json.proofs).toMatchObject([
    { key: 'a', result: 'activated', runId: expect.stringMatching(/^run_/) },
    { key: 'b', result: 'activated' },
  ]);
  expect(first.stderr).toContain('a: step 1');
  expect(first.stderr).toContain('a: activated');
  await folder.routine('b', {}, 'Write two lines.');
  const second = await folder.ras(['apply', '--yes', '--prove']);
  expect(second.json.proofs).toMatchObject([{ key: 'b', result: 'activated' }]);
  expect((await folder.ras(['apply', '--prove'])).json).toEqual({ applied: [], proofs: [] });
  const { data: runs } = await own.get('/v1/runs');
  expect(runs).toHaveLength(3);
});

test('the scopes that the page on files names are enough for plan and apply in CI', async ({ service }) => {
  const page = await readFile(new URL('../../../docs/routines-as-files.md', import.meta.url), 'utf8');
  const [, forPlan = '', forApply = ''] = /^1\. (.*?)The one for `apply`(.*?)^2\. /ms.exec(page) ?? [];
  const scopesIn = (text: string) => Array.from(text.matchAll(/`(\w+:(?:read|write))`/g), ([, scope = '']) => scope);
  const planning = scopesIn(forPlan);
  expect(planning).toEqual(['models:read', 'routines:read']);
  const person = await signUp(service);
  const env = async (scopes: readonly string[]) => ({ env: environmentOf(await person.key(scopes)) });
  const folder = await folderFor(await person.key());
  await folder.routine('a', { skills: '[style]' });
  await folder.write('skills/style/SKILL.md', '---\nname: Style\n---\nWrite short sentences, please.\n');
  const planned = await folder.ras(['plan', '--format', 'markdown', '--exit-code'], await env(planning));
  expect(planned).toMatchObject({ code: 2, stdout: expect.stringContaining('2 to create') });
  const apply = ['apply', '--yes', '--prune', '--prove', '--max-cost', '5', '--refuse-drift'];
  const applied = await folder.ras(apply, await env([...planning, ...scopesIn(forApply)]));
  expect(applied).toMatchObject({ code: 0, json: { proofs: [{ key: 'a', result: 'activated' }] } });
});

test('another text of a skill is proven by a run, and then scheduled runs take it', async ({ own }) => {
  const folder = await folderFor(own);
  const style = (text: string) => folder.write('skills/style/SKILL.md', `---\nname: Style\n---\n${text}\n`);
  await style('Write short sentences, please.');
  await folder.routine('a', { skills: '[style]' });
  await folder.routine('b');
  await folder.ras(['apply', '--yes', '--prove']);
  await style('Write long sentences, please.');
  const planned = await folder.ras(['plan']);
  expect(planned.stdout).toContain('~ skill style  (scheduled runs take it once their routine is proven again)');
  const left = await folder.ras(['apply', '--yes']);
  expect(left.stderr).toContain('ras apply --prove runs and activates them');
  const [{ id }] = (await own.get('/v1/routines?externalKey=a')).data;
  const behind = async () => (await own.get(`/v1/routines/${id}`)).data.skillsBehind;
  expect(await behind()).toHaveLength(1);
  expect((await folder.ras(['apply', '--prove'])).json.proofs).toMatchObject([
    { key: 'a', result: 'activated', runId: expect.stringMatching(/^run_/) },
  ]);
  expect(await behind()).toEqual([]);
  expect((await folder.ras(['apply', '--prove'])).json.proofs).toEqual([]);
});

test('a routine that people have paused stays paused', async ({ own }) => {
  const folder = await folderFor(own);
  await folder.routine('a');
  await folder.ras(['apply', '--yes', '--prove']);
  const [{ id }] = (await own.get('/v1/routines')).data;
  await own.post(`/v1/routines/${id}/pause`);
  await folder.routine('a', { name: 'Other' });
  expect((await folder.ras(['apply', '--yes', '--prove'])).json.proofs).toEqual([]);
  expect((await own.get(`/v1/routines/${id}`)).data).toMatchObject({
    state: 'paused',
    name: 'Other',
  });
});

test('what was broken off between its run and its activation is only activated', async ({ own }) => {
  const folder = await folderFor(own);
  await folder.routine('a');
  await folder.ras(['apply', '--yes']);
  const [{ id }] = (await own.get('/v1/routines')).data;
  await own.post(`/v1/routines/${id}/run`);
  await expect.poll(async () => (await own.get(`/v1/routines/${id}`)).data.activation.ready).toBe(true);
  expect((await folder.ras(['apply', '--prove'])).json.proofs).toMatchObject([
    { key: 'a', result: 'activated', runId: null },
  ]);
  expect((await own.get('/v1/runs')).data).toHaveLength(1);
});

test('a run that fails activates nothing; the others go on, and the exit code is 1', async ({ own, service }) => {
  const folder = await folderFor(own);
  await folder.routine('a');
  await folder.routine('b');
  await folder.ras(['apply', '--yes']);
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const { code, json, stderr } = await folder.ras(['apply', '--prove']);
  expect(code).toBe(1);
  expect(json.proofs).toMatchObject([
    {
      key: 'a',
      result: 'failed',
      message: expect.stringMatching(/the run ended failed, .*\/runs\/run_/),
    },
    { key: 'b', result: 'activated' },
  ]);
  expect(stderr).toContain('a: failed: the run ended failed');
  expect((await own.get('/v1/routines?externalKey=a')).data).toMatchObject([{ state: 'draft' }]);
});

test('no run is started whose forecast would pass --max-cost', async ({ own }) => {
  const folder = await folderFor(own);
  await folder.routine('a');
  await folder.routine('b');
  const { code, json } = await folder.ras(['apply', '--yes', '--prove', '--max-cost', '0.000001']);
  expect(code).toBe(1);
  expect(json.proofs).toMatchObject([
    {
      key: 'a',
      result: 'not_run',
      message: expect.stringMatching(/a run may cost \$[\d.]+ by its limits, and \$0\.0000 of --max-cost are left/),
    },
    { key: 'b', result: 'not_run' },
  ]);
  expect((await own.get('/v1/runs')).data).toEqual([]);
  const forecast = (await own.get(`/v1/routines/${json.proofs[0].id}/forecast`)).data;
  const max = Number(forecast.perRun.p95.costUsd) * 1.5;
  const enough = await folder.ras(['apply', '--prove', '--max-cost', max.toFixed(10)]);
  // The real cost of the first run leaves room for the second.
  expect(enough.json.proofs).toMatchObject([{ result: 'activated' }, { result: 'activated' }]);
  expect(await folder.ras(['apply', '--max-cost', '1'])).toMatchObject({ code: 2 });
  expect(await folder.ras(['apply', '--prove', '--max-cost', 'much'])).toMatchObject({ code: 2 });
});

test('tools that wait for a person are named, with their page', async ({ own, service }) => {
  const folder = await folderFor(own);
  const server = await startHostileTools();
  server.control.tools = [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }];
  const { routineId } = await discovered(own, { url: server.url('honest') });
  await folder.ras(['pull']);
  const { stderr, code } = await folder.ras(['apply', '--prove']);
  await server.stop();
  expect(code).toBe(0);
  expect(stderr).toMatch(/: not confirmed: search\. Only a person can: /);
  expect(stderr).toContain(`${service.config.UI_ORIGIN}/routines/${routineId}`);
});
