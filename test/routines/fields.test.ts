import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

let service: Service;
let key: ApiClient;
let other: ApiClient;

beforeAll(async () => {
  // As in production: a webhook URL must be public and https.
  service = await startService({ env: { ALLOW_PRIVATE_NETWORK: 'false' } });
  key = await (await signUp(service)).key();
  other = await (await signUp(service)).key();
});
afterAll(() => service.close());

test(
  'a routine created with the least has every other field at its default',
  proves('POST /v1/routines', 'GET /v1/routines/:routineId', 'routine.id'),
  async () => {
    const created = await key.post('/v1/routines', routineBody());
    expect(created.status).toBe(201);
    const defaults = {
      id: expect.stringMatching(/^rtn_/),
      name: 'Test routine',
      instructions: 'Write one line.',
      variables: {},
      schedule: '0 7 * * *',
      timezone: 'UTC',
      model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
      skills: [],
      overlap: 'skip',
      misfire: 'run_once',
      limits: { maxSteps: 25, timeoutSeconds: 900, maxTotalTokens: null },
      budget: { maxTokensPerDay: null, maxCostUsdPerMonth: null },
      pauseAfterFailures: 5,
      webhookUrl: null,
      webhookFailedAt: null,
      state: 'draft',
      stateReason: null,
      revision: 1,
      nextRunAt: null,
      lastRunAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: created.data.createdAt,
      archivedAt: null,
    };
    expect(created.data).toEqual(defaults);
    expect(created.headers.get('etag')).toBe('"1"');
    const read = await key.get(`/v1/routines/${created.data.id}`);
    const { nextRuns, ...rest } = read.data;
    expect(rest).toEqual(defaults);
    expect(nextRuns).toHaveLength(5);
  },
);

test('every field that is set is kept as it was set', async () => {
  const fields = {
    name: 'Weekly audit',
    instructions: 'Audit {{site}}, {{now}}, {{date}}, {{routine.name}}, {{run.id}}.',
    variables: { site: 'https://example.com/?a=1&b=2' },
    schedule: '30 6 * * MON,THU',
    timezone: 'Australia/Lord_Howe',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' },
    skills: ['core-web-vitals', 'seo-audit'],
    overlap: 'allow',
    misfire: 'skip',
    limits: { maxSteps: 3, timeoutSeconds: 86_400, maxTotalTokens: 1_000_000 },
    budget: { maxTokensPerDay: 1_000_000_000_000, maxCostUsdPerMonth: '0.0000000001' },
    pauseAfterFailures: 1,
    webhookUrl: 'https://example.com/hooks/routine?x=1',
  };
  const created = await key.post('/v1/routines', fields);
  expect(created.data).toMatchObject(fields);
  expect((await key.get(`/v1/routines/${created.data.id}`)).data).toMatchObject(fields);
  const changes = {
    name: 'Renamed',
    budget: { maxCostUsdPerMonth: '25.5' },
    limits: { maxSteps: 4 },
    webhookUrl: null,
  };
  const patched = await key.patch(`/v1/routines/${created.data.id}`, changes);
  expect(patched.data).toMatchObject({
    ...fields,
    ...changes,
    budget: { ...fields.budget, ...changes.budget },
    limits: { ...fields.limits, ...changes.limits },
  });
});

test('an empty change changes nothing but the version', async () => {
  const id = await createRoutine(key);
  const before = (await key.get(`/v1/routines/${id}`)).data;
  const patched = await key.patch(`/v1/routines/${id}`, {});
  expect(patched.status).toBe(200);
  const { nextRuns: _nextRuns, ...rest } = before;
  expect(patched.data).toEqual({ ...rest, updatedAt: patched.data.updatedAt });
});

test.each([
  ['six fields', '0 0 7 * * *'],
  ['four fields', '7 * * *'],
  ['an impossible date', '0 0 30 2 *'],
  ['an hour that no clock has', '0 24 * * *'],
  ['a minute that no clock has', '60 * * * *'],
  ['a reboot', '@reboot'],
  ['a hash of Jenkins', 'H * * * *'],
  ['words', 'every day at seven'],
  ['nothing', ''],
  ['a step of zero', '*/0 * * * *'],
])(
  '%s is invalid_schedule, on create and on update',
  proves('routine.schedule'),
  async (_name, schedule) => {
    const created = await key.post('/v1/routines', routineBody({ schedule }));
    expect(codeOf(created)).toEqual([400, 'invalid_schedule']);
    expect(created.body.error.message).toMatch(/^schedule: /);
    const id = await createRoutine(key);
    expect(codeOf(await key.patch(`/v1/routines/${id}`, { schedule }))).toEqual([
      400,
      'invalid_schedule',
    ]);
  },
);

test('the next five times are those of the schedule in its zone', async () => {
  const id = await createRoutine(key, { schedule: '30 9 29 2 *', timezone: 'Asia/Kolkata' });
  const { nextRuns } = (await key.get(`/v1/routines/${id}`)).data;
  const years = nextRuns.map((time: string) => Number(time.slice(0, 4)));
  for (const year of years) expect(year % 4).toBe(0);
  for (const time of nextRuns) expect(time).toMatch(/^\d{4}-02-29T04:00:00\.000Z$/);
});

test.each(['Mars/Olympus', 'EST5', '', 'Europe/Berlin '])(
  '%j is no time zone',
  async (timezone) => {
    const answer = await key.post('/v1/routines', routineBody({ timezone }));
    expect(codeOf(answer)).toEqual([400, 'invalid_timezone']);
  },
);

test('a placeholder without a value is invalid_variable, on create and when an update takes the value away', async () => {
  const body = routineBody({
    instructions: 'Write about {{topic}} and {{ tone }}.',
    variables: { topic: 'tea' },
  });
  const created = await key.post('/v1/routines', body);
  expect(codeOf(created)).toEqual([400, 'invalid_variable']);
  expect(created.body.error.message).toBe('instructions: no value for {{tone}}');
  const id = await createRoutine(key, { instructions: '{{topic}}', variables: { topic: 'tea' } });
  for (const patch of [{ variables: {} }, { instructions: '{{other}}' }]) {
    expect(codeOf(await key.patch(`/v1/routines/${id}`, patch))).toEqual([400, 'invalid_variable']);
  }
});

test('names of variables are checked, and the built-in ones are taken', async () => {
  for (const name of ['1st', 'a-b', 'a b', 'now', 'date', 'x'.repeat(65)]) {
    const answer = await key.post('/v1/routines', routineBody({ variables: { [name]: 'x' } }));
    expect([name, ...codeOf(answer)]).toEqual([name, 400, 'invalid_request']);
    expect(answer.body.error.message).toContain(`variables.${name}`);
  }
});

test.each([
  'http://example.com/',
  'https://127.0.0.1/',
  'https://localhost/',
  'https://10.1.2.3/hook',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254/latest',
  'https://2130706433/',
  'https://user:password@example.com/',
  'ftp://example.com/',
  'not a url',
  '',
])('%j is no webhook URL', async (webhookUrl) => {
  const answer = await key.post('/v1/routines', routineBody({ webhookUrl }));
  expect(codeOf(answer)).toEqual([400, 'invalid_webhook_url']);
  expect(answer.body.error.message).toMatch(/^webhookUrl: /);
});

test(
  'the webhook secret is shown once: on creation, or when a URL is first set',
  proves('routine.webhookUrl', 'routine.webhookSecret'),
  async () => {
    const url = 'https://example.com/hook';
    const created = await key.post('/v1/routines', routineBody({ webhookUrl: url }));
    expect(created.data.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const path = `/v1/routines/${created.data.id}`;
    for (const answer of [
      await key.get(path),
      await key.get('/v1/routines'),
      await key.patch(path, { webhookUrl: 'https://example.org/other' }),
      await key.post(`${path}/pause`),
      await key.delete(path),
    ]) {
      expect(JSON.stringify(answer.body)).not.toContain('whsec_');
    }
    const bare = await key.post('/v1/routines', routineBody());
    expect(bare.data).not.toHaveProperty('webhookSecret');
    const later = await key.patch(`/v1/routines/${bare.data.id}`, { webhookUrl: url });
    expect(later.data.webhookSecret).toMatch(/^whsec_/);
    const rotated = await key.post(`/v1/routines/${bare.data.id}/webhook-secret`);
    expect(rotated.data.webhookSecret).toMatch(/^whsec_/);
    expect(rotated.data.webhookSecret).not.toBe(later.data.webhookSecret);
    const none = await createRoutine(key);
    expect(codeOf(await key.post(`/v1/routines/${none}/webhook-secret`))).toEqual([
      409,
      'webhook_not_configured',
    ]);
  },
);

test(
  'inline tools are refused, on create and on update, and an empty list is nothing',
  proves('400 tool_policy_requires_connection', 'routine.toolPolicies'),
  async () => {
    const id = await createRoutine(key);
    for (const name of ['tools', 'toolPolicies']) {
      const inline = { [name]: [{ type: 'function', function: { name: 'search' } }] };
      for (const answer of [
        await key.post('/v1/routines', routineBody(inline)),
        await key.patch(`/v1/routines/${id}`, inline),
      ]) {
        expect(codeOf(answer)).toEqual([400, 'tool_policy_requires_connection']);
        expect(answer.body.error.message).toContain(`${name}: `);
      }
      expect((await key.patch(`/v1/routines/${id}`, { [name]: [] })).status).toBe(200);
    }
  },
);

test(
  'a routine of another project, an unknown one and a malformed id are the same 404 everywhere',
  proves('404 routine_not_found'),
  async () => {
    const foreign = await createRoutine(other);
    for (const id of [foreign, newId('routine'), 'nonsense', newId('run')]) {
      const path = `/v1/routines/${id}`;
      for (const answer of [
        await key.get(path),
        await key.patch(path, { name: 'x' }),
        await key.delete(path),
        await key.post(`${path}/run`),
        await key.post(`${path}/activate`),
        await key.post(`${path}/pause`),
        await key.post(`${path}/webhook-secret`),
        await key.get(`${path}/runs`),
      ]) {
        expect([id, ...codeOf(answer)]).toEqual([id, 404, 'routine_not_found']);
      }
    }
    expect((await other.get(`/v1/routines/${foreign}`)).data.state).toBe('draft');
  },
);

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error?.code];
}
