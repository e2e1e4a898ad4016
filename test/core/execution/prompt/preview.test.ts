import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { changeRoutines, changeVersions } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

test.afterEach(({ service }) => service.gateway.control.reset());

test('a preview is the text that a run then gets, with its skills, tools and values', async ({ service, key }) => {
  const id = await createRoutine(key, {
    instructions: 'Write of {{topic}} for {{routine.name}}.',
    variables: { topic: 'tea' },
    skills: ['seo-audit'],
    builtInTools: ['calculate'],
  });
  const { status, data } = await key.post(`/v1/routines/${id}/preview`, {
    variables: { topic: 'coffee' },
  });
  expect(status).toBe(200);
  expect(data.prompt).toMatch(/^Write of coffee for Test routine\.\n\n## Skill: SEO audit\n\n/);
  expect(data.skills).toEqual([{ reference: 'seo-audit', name: 'SEO audit' }]);
  expect(data.tools).toMatchObject([{ name: 'calculate', connectionId: null, policyId: null }]);
  expect(data.preflight).toEqual({ ready: true, reason: null, message: null });

  const run = await runOnce(key, id, { variables: { topic: 'coffee' } });
  expect(data.prompt).toBe(run.prompt);
  const withoutTime = (text: string) => text.replace(/- Date and time: .*/, '');
  expect(withoutTime(data.briefing)).toBe(withoutTime(run.briefing));
  const call = service.gateway.control.requests().find(({ path }) => path.includes('/chat/'));
  const { messages } = call!.body as { messages: { role: string; content: string }[] };
  expect(data.preamble).toBe(messages[0]!.content);

  const { inputTokens, least, most, typical } = data.estimate;
  expect(inputTokens).toBeGreaterThanOrEqual(run.steps[0].usage.inputTokens);
  expect(least.tokens).toBe(inputTokens);
  expect(Number(least.costUsd)).toBeGreaterThan(0);
  expect(Number(most.costUsd)).toBeGreaterThan(Number(least.costUsd));
  expect(typical.basis).toBe('limits');
  // The next preview contains the result and the usage of the run.
  const next = (await key.post(`/v1/routines/${id}/preview`)).data;
  expect(next.briefing).toContain(run.result);
  expect(next.estimate.typical).toMatchObject({
    // The run had other variables than the routine, so it is no proof.
    basis: 'version_runs',
    p50: { tokens: run.usage.totalTokens, costUsd: run.usage.costUsd },
  });
});

test('a preview calls no model, makes no run and writes nothing', async ({ service, key }) => {
  const id = await createRoutine(key);
  const written = () =>
    service.deps.database.rows`
      select r.version, r.updated_at, r.xmin::text as xmin,
        (select count(*) from runs where runs.routine_id = r.id) as runs,
        (select count(*) from usage_totals where scope_id = r.id) as totals,
        (select count(*) from audit_events where target_id = r.id) as events
      from routines r where id = ${id}
    `;
  const before = await written();
  expect((await key.post(`/v1/routines/${id}/preview`)).status).toBe(200);
  expect(await written()).toEqual(before);
  const calls = service.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));
  expect(calls).toEqual([]);
});

test('a preview says what the preflight of a run would end it with', async ({ service, key }) => {
  const verdict = async (
    fields: Record<string, unknown>,
    body: unknown = {},
    change?: { modelId: string } | { instructions: string },
  ) => {
    const id = await createRoutine(key, fields);
    if (change !== undefined) {
      await changeRoutines(service.deps.database, id, change);
      await changeVersions(service.deps.database, { routineId: id }, change);
    }
    const { status, data } = await key.post(`/v1/routines/${id}/preview`, body);
    expect(status).toBe(200);
    const run = await runOnce(key, id, body);
    expect(run).toMatchObject({ state: 'failed', stepCount: 0 });
    expect(data.preflight).toEqual({
      ready: false,
      reason: run.reason,
      message: run.errorMessage,
    });
    return data;
  };
  expect((await verdict({}, {}, { modelId: 'gone/model' })).prompt).toBe('Write one line.');
  await verdict({}, {}, { instructions: 'Use {{gone}}.' });
  await verdict({ budget: { maxTokensPerDay: 1 } });
  const tooLarge = await verdict(
    { instructions: '{{topic}}'.repeat(41), variables: { topic: 'tea' } },
    { variables: { topic: 'x'.repeat(10_000) } },
  );
  expect(tooLarge).toMatchObject({
    prompt: null,
    briefing: null,
    estimate: { inputTokens: null, least: { tokens: null, costUsd: null } },
  });
});

test('a preview of an archived routine says so, and one of a model without prices has tokens only', async ({ key }) => {
  const archived = await createRoutine(key);
  await key.delete(`/v1/routines/${archived}`);
  const verdict = (await key.post(`/v1/routines/${archived}/preview`)).data.preflight;
  expect(verdict).toMatchObject({ ready: false, reason: 'blocked_routine' });
  const id = await createRoutine(key, {
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced' },
  });
  const { estimate, preflight } = (await key.post(`/v1/routines/${id}/preview`)).data;
  expect(preflight.ready).toBe(true);
  expect(estimate.least).toEqual({ tokens: estimate.inputTokens, costUsd: null });
  expect(estimate.typical).toMatchObject({ pricing: 'unpriced', p95: { costUsd: null } });
});

test('a preview of a foreign routine is 404, and one with a variable that is none 400', async ({
  ada,
  key,
  bobsKey,
}) => {
  const id = await createRoutine(key, { variables: { topic: 'tea' } });
  expect((await bobsKey.post(`/v1/routines/${id}/preview`)).body.error.code).toBe('routine_not_found');
  const refused = await key.post(`/v1/routines/${id}/preview`, { variables: { tpoic: 'x' } });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_variable']);
  const blind = await ada.key(['runs:read']);
  expect((await blind.post(`/v1/routines/${id}/preview`)).body.error.code).toBe('insufficient_scope');
});
