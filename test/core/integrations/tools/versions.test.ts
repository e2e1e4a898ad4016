import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { startEverythingServer, type EverythingServer } from './everything-server.ts';
import { discovered, policyPath } from './support.ts';
import { claimRunOf } from '#test/support/given.ts';

const test = serviceTest();

let everything: EverythingServer;

test.beforeAll(async () => {
  everything = await startEverythingServer();
});
test.afterAll(() => everything?.stop());

test('a change of a tool is a version with the tools of then, and skips what is queued', async ({
  service,
  ada,
  key,
}) => {
  const { routineId, connectionId, tools } = await discovered(key, { url: everything.url });
  const path = policyPath(routineId, tools[0]);
  const version = async (revision: number) => (await key.get(`/v1/routines/${routineId}/versions/${revision}`)).data;
  expect(await version(1)).toMatchObject({ changed: [], tools: [] });

  await ada.session
    .with({ 'X-Project-Id': ada.projectId })
    .patch(path, { confirmAutomaticExecution: true, maxCallsPerRun: 3 });
  const confirmed = {
    connectionId,
    name: tools[0].name,
    definitionHash: tools[0].definitionHash,
    maxCallsPerRun: 3,
    argumentSchemaHash: null,
  };
  expect(await version(2)).toMatchObject({
    changed: ['tools'],
    createdBy: { kind: 'person', id: ada.userId },
    tools: [confirmed],
  });

  const first = await claimRunOf(service, key, routineId);
  await key.patch(path, { argumentSchema: { properties: { message: { const: 'hello' } } } });
  const schemaHash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(await version(3)).toMatchObject({
    changed: ['tools'],
    tools: [{ ...confirmed, argumentSchemaHash: schemaHash }],
  });
  expect((await key.get(`/v1/runs/${first}`)).data).toMatchObject({
    state: 'skipped',
    reason: 'superseded',
  });

  await key.patch(`/v1/routines/${routineId}`, { instructions: 'Other text.' });
  const restored = await key.post(`/v1/routines/${routineId}/versions/1/restore`);
  expect(restored.data).toMatchObject({ revision: 5, instructions: 'Write one line.' });
  // Revision 1 had no tools; the present confirmations remain.
  expect(await version(5)).toMatchObject({
    changed: ['instructions'],
    tools: [{ ...confirmed, argumentSchemaHash: schemaHash }],
  });

  const second = await claimRunOf(service, key, routineId);
  expect((await key.delete(`/v1/connections/${connectionId}`)).status).toBe(200);
  expect(await version(6)).toMatchObject({
    changed: ['tools'],
    createdBy: { kind: 'key', id: expect.stringMatching(/^key_/) },
    tools: [],
  });
  expect((await key.get(`/v1/runs/${second}`)).data.reason).toBe('superseded');
});
