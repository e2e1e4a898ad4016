import { beforeEach, expect, onTestFinished } from 'vitest';
import type { ScriptInput } from '#dev/fakes/gateway/script.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';

const test = serviceTest({ own: true });

const MODEL = 'fixture/writer-small';
const PARIS = { country: 'France', capital: 'Paris' };

/** The answers of a model that passes every test. */
const ABLE: readonly ScriptInput[] = [
  { marker: 'one word', behaviour: { kind: 'text', text: 'ready' } },
  {
    marker: 'Call the tool',
    behaviour: { kind: 'tool-calls', calls: [{ name: 'add', arguments: { a: 2, b: 3 } }] },
  },
  { marker: 'capital', behaviour: { kind: 'text', text: JSON.stringify(PARIS) } },
];

beforeEach(({ service }: { service: { gateway: Gateway } }) => service.gateway.control.reset());

interface Gateway {
  readonly control: { reset(): void };
}

function sessionOf({ session, projectId }: Person) {
  return session.with({ 'X-Project-Id': projectId });
}

test('a test says beforehand what it costs at most, and asks nothing for that', async ({ service, ada }) => {
  const { status, data } = await sessionOf(ada).post('/v1/models/test', {
    modelId: MODEL,
    dryRun: true,
  });
  expect(status).toBe(200);
  expect(data).toMatchObject({ modelId: MODEL, dryRun: true, usage: null });
  expect(data.checks.map(({ state }: { state: string }) => state)).toEqual(Array.from({ length: 3 }, () => 'not_made'));
  const { inputTokens, outputTokens, costUsd } = data.estimate;
  expect(Number(costUsd)).toBeCloseTo(inputTokens * 0.00000015 + outputTokens * 0.0000006, 9);
  const calls = service.gateway.control.requests().filter(({ path }) => path !== '/v1/models');
  expect(calls).toEqual([]);
});

test('a model that can do all passes three checks, which is remembered, and its usage counts', async ({ service }) => {
  const ada = await signUp(service);
  service.gateway.control.script(...ABLE);
  const { data } = await sessionOf(ada).post('/v1/models/test', { modelId: MODEL });
  expect(data.checks).toMatchObject([
    { kind: 'text', state: 'passed', words: 'It wrote: “ready”' },
    { kind: 'tool', state: 'passed', words: 'The model called the tool with “{"a":2,"b":3}”' },
    { kind: 'schema', state: 'passed' },
  ]);
  expect(data.abilities).toMatchObject({ tools: true, structuredOutputs: true });
  expect(data.usage.totalTokens).toBeLessThanOrEqual(data.estimate.inputTokens + data.estimate.outputTokens);
  const { data: models } = await sessionOf(ada).get('/v1/models');
  const option = models.find(({ modelId }: { modelId: string }) => modelId === MODEL);
  expect(option).toMatchObject({ structuredOutputs: true, abilities: { tools: true } });
  const { data: usage } = await sessionOf(ada).get('/v1/usage?groupBy=routine');
  expect(usage.groups).toMatchObject([
    { key: 'model-tests', totalTokens: data.usage.totalTokens, costUsd: data.usage.costUsd },
  ]);
  for (const scope of [ada.organizationId, ada.projectId]) {
    const totals = await service.deps.database.row`
      select day_tokens as tokens, trim_scale(month_cost_usd)::text as cost, reserved_tokens as reserved
      from usage_totals where scope_id = ${scope}
    `;
    const { totalTokens: tokens, costUsd: cost } = data.usage;
    expect(totals).toEqual({ tokens, cost, reserved: 0 });
  }
});

test('a model that keeps to no schema and calls no tool fails those checks, in its words', async ({ service, ada }) => {
  service.gateway.control.script({
    times: null,
    behaviour: { kind: 'text', text: 'The capital is Paris.' },
  });
  const { data } = await sessionOf(ada).post('/v1/models/test', { modelId: 'fixture/analyst' });
  expect(data.checks).toMatchObject([
    { state: 'passed' },
    { state: 'failed', words: 'The model called no tool. It wrote: “The capital is Paris.”' },
    { state: 'failed', words: 'The model did not keep to the schema: “The capital is Paris.”' },
  ]);
  expect(data.abilities.structuredOutputs).toBe(false);
});

test('a server that refuses is not asked on, and what an earlier test taught stays', async ({ service, ada }) => {
  const model = { source: 'gateway', modelId: 'fixture/thinker' };
  await service.deps.abilities.learn(model, ada.organizationId, { structuredOutputs: false });
  service.gateway.control.script({ behaviour: { kind: 'error', status: 401 } });
  const { data } = await sessionOf(ada).post('/v1/models/test', { modelId: model.modelId });
  expect(data.checks).toMatchObject([
    { state: 'failed', words: expect.stringMatching(/\w/) },
    { state: 'not_made', words: null },
    { state: 'not_made', words: null },
  ]);
  expect(data.usage).toMatchObject({ totalTokens: 0 });
  expect(service.deps.abilities.of(model, ada.organizationId)).toEqual({ structuredOutputs: false });
  const calls = service.gateway.control.requests().filter(({ path }) => path !== '/v1/models');
  expect(calls).toHaveLength(1);
});

test('a budget that is used up, or that limits a model without prices, refuses a test', async ({ service }) => {
  const ada = await signUp(service);
  const client = sessionOf(ada);
  const budget = (fields: object) => ada.session.patch(`/v1/organizations/${ada.organizationId}`, { budget: fields });
  const tryIt = async (modelId: string) => {
    const { status, body } = await client.post('/v1/models/test', { modelId });
    return [status, body.error?.code];
  };
  await budget({ maxTokensPerDay: 1_000 });
  expect(await tryIt(MODEL)).toEqual([402, 'allowance_exceeded']);
  await budget({ maxTokensPerDay: null, maxCostUsdPerMonth: '10' });
  expect(await tryIt('fixture/unpriced')).toEqual([402, 'allowance_exceeded']);
  service.gateway.control.script(...ABLE);
  expect((await tryIt(MODEL))[0]).toBe(200);
  const calls = service.gateway.control.requests().filter(({ path }) => path !== '/v1/models');
  expect(calls).toHaveLength(3);
});

test('tests at once do not pass a budget together', async ({ service }) => {
  const ada = await signUp(service);
  const { data } = await sessionOf(ada).post('/v1/models/test', { modelId: MODEL, dryRun: true });
  const { inputTokens, outputTokens } = data.estimate;
  await ada.session.patch(`/v1/organizations/${ada.organizationId}`, {
    budget: { maxTokensPerDay: 2 * (inputTokens + outputTokens) },
  });
  const release = service.gateway.control.hold({ times: null });
  onTestFinished(release);
  let answered = 0;
  const answers = Array.from({ length: 6 }, async () => {
    const answer = await sessionOf(ada).post('/v1/models/test', { modelId: MODEL });
    answered += 1;
    return answer;
  });
  const counted = async () => {
    const found = await service.deps.database.row<{
      tokens: number;
    }>`select day_tokens as tokens from usage_totals where scope_id = ${ada.organizationId}`;
    return found?.tokens;
  };
  await expect.poll(counted).toBe(2 * (inputTokens + outputTokens));
  // A test that starts only now would find the limit that the first two tests give back.
  await expect.poll(() => answered).toBe(4);
  release();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses.filter((status) => status === 402)).toHaveLength(4);
});

test('members and keys have no tests made, and an organization only so many an hour', async ({ service }) => {
  const [ada, grace] = [await signUp(service), await signUp(service)];
  const path = `/v1/organizations/${ada.organizationId}/invitations`;
  const invited = await ada.session.post(path, { email: grace.email, role: 'member' });
  await grace.session.post('/v1/invitations/accept', { token: invited.data.token });
  const member = grace.session.with({ 'X-Project-Id': ada.projectId });
  const body = { modelId: MODEL, dryRun: true };
  expect((await member.post('/v1/models/test', body)).status).toBe(403);
  expect((await (await ada.key()).post('/v1/models/test', body)).status).toBe(403);

  service.gateway.control.script({ times: null, behaviour: { kind: 'error', status: 401 } });
  const tryIt = () => sessionOf(ada).post('/v1/models/test', { modelId: MODEL });
  const answers = await Promise.all(Array.from({ length: 31 }, tryIt));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
});
