import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { confirm, discovered, marker, policyPath } from '#test/core/integrations/tools/support.ts';
import { activate, says, scheduledRun, startPage } from './support.ts';

const test = serviceTest({ worker: true });

const WATCHED = { tool: null, pointers: [], wakeOn: 'changed', maxQuietHours: null };

test('a preview shows the gate and asks nothing, so its value is left out', async ({ service, key }) => {
  const mark = marker();
  const page = await startPage({ items: ['a'] });
  const id = await createRoutine(key, {
    instructions: `${mark}: [{{gate.value}}]`,
    gate: { url: page.origin },
  });
  const preview = async () => {
    const { status, data } = await key.post(`/v1/routines/${id}/preview`);
    expect([status, data.preflight]).toEqual([200, { ready: true, reason: null, message: null }]);
    return data;
  };
  expect(await preview()).toMatchObject({
    prompt: `${mark}: []`,
    gate: { ...WATCHED, url: page.origin, fault: null },
  });
  expect((await preview()).briefing).not.toContain('Gate');
  expect(page.received).toEqual([]);

  // A preview does not change the baseline of the next run.
  says(service, mark, 'Done.');
  await activate(key, id);
  await preview();
  expect(page.received).toHaveLength(1);
  expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped' });
  expect((await key.post(`/v1/routines/${await createRoutine(key)}/preview`)).data.gate).toBeNull();
});

test('a preview says why the tool of a gate may not be asked, and the scheduled run says it too', async ({
  service,
  key,
}) => {
  const tools = await startHostileTools();
  try {
    const mark = marker();
    const found = await discovered(key, { url: tools.url('honest') }, { instructions: mark });
    await confirm(key, found, ['lookup']);
    const { routineId } = found;
    const policyId = found.tools.find(({ name }) => name === 'lookup')!.id;
    const gate = { tool: { policyId, arguments: { query: 'open tickets' } } };
    const patched = await key.patch(`/v1/routines/${routineId}`, { gate });
    expect(patched.body.error).toBeUndefined();
    const faultOf = async () => (await key.post(`/v1/routines/${routineId}/preview`)).data.gate;
    expect(await faultOf()).toMatchObject({ ...WATCHED, ...gate, url: null, fault: null });

    await key.patch(policyPath(routineId, { id: policyId }), { state: 'disabled' });
    const fault = 'no person has confirmed that this tool may be used without being asked';
    expect(await faultOf()).toMatchObject({ fault });
    says(service, mark, 'Proven.');
    await activate(key, routineId);
    says(service, mark, 'Could not look.');
    const run = await scheduledRun(service, key, routineId);
    expect(run).toMatchObject({
      state: 'succeeded',
      gate: { failed: true, changed: null, reason: 'tool_refused' },
    });
    expect(run.briefing).toContain('- Gate: it could not be asked');
    expect(run.briefing.toLowerCase()).toContain(fault);
  } finally {
    await tools.stop();
  }
});
