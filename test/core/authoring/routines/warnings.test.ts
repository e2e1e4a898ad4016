import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { confirm, connect, type Json } from '#test/core/integrations/tools/support.ts';

const test = serviceTest({ worker: true });

function needsIn({ warnings }: { warnings: Json[] }): string[] {
  return warnings.map(({ skill, need }) => `${skill} ${need}`);
}

test('a skill whose needs no tool meets is a warning when the routine is saved and read, and no error', async ({
  key,
}) => {
  const created = await key.post('/v1/routines', routineBody({ skills: ['seo-audit'] }));
  expect(created.status).toBe(201);
  expect(created.data.warnings).toEqual([
    {
      code: 'skill_need_unmet',
      skill: 'seo-audit',
      need: 'web',
      message: expect.stringMatching(/^seo-audit works on web data, and no tool/),
    },
    expect.objectContaining({ skill: 'seo-audit', need: 'search-console' }),
  ]);
  const { id } = created.data;
  expect((await key.get(`/v1/routines/${id}`)).data.warnings).toEqual(created.data.warnings);
  expect(await runOnce(key, id)).toMatchObject({ state: 'succeeded' });
  expect((await key.post(`/v1/routines/${id}/activate`)).status).toBe(200);

  const more = await key.patch(`/v1/routines/${id}`, { skills: ['seo-audit', 'budget-pacing'] });
  expect(needsIn(more.data)).toEqual(['seo-audit web', 'seo-audit search-console', 'budget-pacing ads']);
  const none = await key.patch(`/v1/routines/${id}`, { skills: [] });
  expect(none.data.warnings).toEqual([]);
  const restored = await key.post(`/v1/routines/${id}/versions/1/restore`);
  expect(needsIn(restored.data)).toEqual(['seo-audit web', 'seo-audit search-console']);
});

test('a custom skill, and one that needs nothing, warn of nothing; nor does calculate meet a need', async ({ key }) => {
  const skill = await key.post('/v1/skills', { name: 'Own', instructions: 'x'.repeat(40) });
  const created = await key.post('/v1/routines', routineBody({ skills: [skill.data.id] }));
  expect(created.data.warnings).toEqual([]);
  const computing = await key.post('/v1/routines', routineBody({ skills: ['seo-audit'], builtInTools: ['calculate'] }));
  expect(computing.data.warnings).toHaveLength(2);
});

test('a deleted skill stands in the warnings until it is taken off', async ({ key }) => {
  const { data: skill } = await key.post('/v1/skills', {
    name: 'Own',
    instructions: 'x'.repeat(40),
  });
  const id = await createRoutine(key, { skills: [skill.id] });
  const warnings = async () => (await key.get(`/v1/routines/${id}`)).data.warnings;
  expect(await warnings()).toEqual([]);
  await key.delete(`/v1/skills/${skill.id}`);
  const gone = [{ code: 'skill_deleted', skill: skill.id, message: expect.stringContaining('was deleted') }];
  expect(await warnings()).toEqual(gone);
  expect((await key.patch(`/v1/routines/${id}`, { name: 'Other' })).data.warnings).toEqual(gone);
  expect((await key.patch(`/v1/routines/${id}`, { skills: [] })).data.warnings).toEqual([]);
});

test('a tool meets a need once it is confirmed, and only of its own routine', async ({ key, bobsKey }) => {
  const hostile = await startHostileTools();
  try {
    hostile.control.tools = [
      { name: 'fetch_url', inputSchema: { type: 'object' } },
      {
        name: 'search_analytics',
        description: 'Search Console rows',
        inputSchema: { type: 'object' },
      },
    ];
    const routine = { skills: ['seo-audit'] };
    const routineId = await createRoutine(key, routine);
    const connectionId = await connect(key, { url: hostile.url('honest') });
    const { tools } = (await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`)).data;
    const detail = async () => (await key.get(`/v1/routines/${routineId}`)).data;
    // The tool was discovered but not confirmed, so a run could not call it.
    expect(await detail()).toMatchObject({ callableTools: [], warnings: [{}, {}] });
    await confirm(key, { routineId, connectionId, tools }, ['fetch_url']);
    expect(needsIn(await detail())).toEqual(['seo-audit search-console']);
    await confirm(key, { routineId, connectionId, tools }, ['search_analytics']);
    expect((await detail()).warnings).toEqual([]);
    expect((await detail()).callableTools.map(({ name }: Json) => name).toSorted()).toEqual([
      'fetch_url',
      'search_analytics',
    ]);
    const renamed = await key.patch(`/v1/routines/${routineId}`, { name: 'Other' });
    expect(renamed.data.warnings).toEqual([]);

    for (const client of [key, bobsKey]) {
      const other = await createRoutine(client, routine);
      const { data } = await client.get(`/v1/routines/${other}`);
      expect(data.callableTools).toEqual([]);
      expect(data.warnings).toHaveLength(2);
    }
  } finally {
    await hostile.stop();
  }
});

test('a schedule whose runs lie further apart than their content is kept is a warning, where runs are compared', async ({
  key,
  ada,
}) => {
  const quarterly = { schedule: '0 7 1 */3 *' };
  const { data: kept } = await key.post('/v1/routines', routineBody(quarterly));
  expect(kept.warnings).toEqual([]);
  const path = `/v1/projects/${ada.projectId}`;
  await ada.session.patch(path, { runContentDays: 90 });
  const warned = await key.patch(`/v1/routines/${kept.id}`, { name: 'Quarterly' });
  expect(warned.data.warnings).toEqual([
    {
      code: 'interval_beyond_retention',
      message: expect.stringMatching(/^Up to 92 days lie between two runs, and .* kept for 90: /),
    },
  ]);
  const { data: read } = await key.get(`/v1/routines/${kept.id}`);
  expect(read.warnings).toEqual(warned.data.warnings);
  const alone = await key.patch(`/v1/routines/${kept.id}`, { carryResult: false });
  expect(alone.data.warnings).toEqual([]);
  await ada.session.patch(path, { runContentDays: null });
});
