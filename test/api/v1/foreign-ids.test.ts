import { expect, onTestFinished } from 'vitest';
import { routes } from '#api/routes.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { connect } from '#test/core/integrations/tools/support.ts';
import { createRoutine } from '#test/support/routines.ts';

const test = serviceTest({ env: { ALLOW_PRIVATE_NETWORK: 'true' } });

test('ids of another project are unknown: each operation responds as to ids that never existed', async ({
  key,
  bobsKey,
}) => {
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const { data: skill } = await key.post('/v1/skills', {
    name: 'House style',
    instructions: 'Write short sentences and prefer plain words over long ones.',
  });
  const tools = await startHostileTools();
  onTestFinished(() => tools.stop());
  const connectionId = await connect(key, { url: tools.url('honest') });
  const known: Readonly<Record<string, string>> = {
    routineId,
    runId: run.id,
    skillId: skill.id,
    connectionId,
  };
  let asked = 0;
  for (const { spec } of routes) {
    if (spec.auth !== 'key-or-session') continue;
    const names = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => String(name));
    const [first] = names;
    if (first === undefined || known[first] === undefined || names.length > 1) continue;
    const path = spec.path.replace(`:${first}`, known[first]);
    const { status, body } = await bobsKey.send(spec.method, path, spec.method === 'GET' ? undefined : {});
    // An invalid body is refused before any look-up.
    if (status === 400 || status === 403) continue;
    expect([spec.id, status, body?.error?.code]).toEqual([spec.id, 404, expect.stringMatching(/_not_found$/)]);
    asked += 1;
  }
  expect(asked).toBeGreaterThan(12);
  expect((await key.get(`/v1/runs/${run.id}`)).status).toBe(200);
});
