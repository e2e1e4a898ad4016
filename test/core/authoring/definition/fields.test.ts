import { expect } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { changeRoutines } from '#test/support/given.ts';
import { AT_ONCE } from '#lib/database/index.ts';

// As in production: a webhook URL must be public and https.
const test = serviceTest({ env: { ALLOW_PRIVATE_NETWORK: 'false' } });

test(
  'a routine created with the least has every other field at its default',
  proves('POST /v1/routines', 'GET /v1/routines/:routineId', 'routine.id'),
  async ({ key }) => {
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
      overridable: null,
      skills: [],
      carryResult: true,
      facts: false,
      builtInTools: [],
      mayComplete: false,
      mayAsk: false,
      afterAnswer: 'wait',
      afterApproval: 'nothing',
      decisionHours: 72,
      mayPutOffHours: null,
      outcome: 'optional',
      checks: [],
      startsAt: null,
      endsAt: null,
      skipDates: [],
      jitterSeconds: 0,
      gate: null,
      resultSchema: null,
      resultKey: null,
      resultsTo: { when: 'each', mail: null, chats: [] },
      overlap: 'skip',
      misfire: 'run_once',
      limits: {
        maxSteps: 25,
        timeoutSeconds: 900,
        maxTotalTokens: null,
        maxOutputTokens: null,
        maxQueueSeconds: 21_600,
        abnormalFactor: 5,
      },
      budget: { maxTokensPerDay: null, maxCostUsdPerMonth: null },
      pauseAfterFailures: 5,
      webhookUrl: null,
      notifications: { mail: null, successPingUrl: null },
      deliver: 'always',
      externalKey: null,
      managedBy: null,
      driftedAt: null,
      driftedBy: null,
      managedFrom: null,
      webhookFailedAt: null,
      state: 'draft',
      stateReason: null,
      scheduleInWords: 'Every day at 07:00',
      revision: 1,
      nextRunAt: null,
      notBefore: null,
      lastRunAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: created.data.createdAt,
      archivedAt: null,
      warnings: [],
    };
    expect(created.data).toEqual(defaults);
    expect(created.headers.get('etag')).toBe('"1"');
    const read = await key.get(`/v1/routines/${created.data.id}`);
    const { nextRuns, activation, callableTools, mailDelivery, skillsBehind, ...others } = read.data;
    const { factsBehind, proposal, ...rest } = others;
    expect(rest).toEqual(defaults);
    expect([callableTools, mailDelivery, skillsBehind]).toEqual([[], 'unavailable', []]);
    expect([factsBehind, proposal]).toEqual([null, null]);
    expect(nextRuns).toHaveLength(5);
    const reason = 'successful_run_required';
    expect(activation).toEqual({ ready: false, proofRunId: null, reason });
  },
);

test('every field that is set is kept as it was set', async ({ key }) => {
  const fields = {
    name: 'Weekly audit',
    instructions:
      'Audit {{site}}, {{now}}, {{date}}, {{routine.name}}, {{run.id}}, {{previous.result}}, {{previous.finishedAt}}, {{previous.data}}, {{previous.changes}}.',
    variables: { site: 'https://example.com/?a=1&b=2' },
    overridable: ['site'],
    schedule: '30 6 * * MON,THU',
    timezone: 'Australia/Lord_Howe',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' },
    skills: ['core-web-vitals', 'seo-audit'],
    carryResult: false,
    builtInTools: ['calculate'],
    startsAt: '2027-01-01T00:00:00.000Z',
    endsAt: '2027-12-31T23:59:00.000Z',
    skipDates: ['2027-04-05', '2027-12-27'],
    jitterSeconds: 3_600,
    resultSchema: { type: 'object', properties: { z: { type: 'array' }, a: {} } },
    resultKey: { list: '/z', key: '/id' },
    overlap: 'allow',
    misfire: 'skip',
    limits: {
      maxSteps: 3,
      timeoutSeconds: 86_400,
      maxTotalTokens: 1_000_000,
      maxOutputTokens: 4_096,
    },
    budget: { maxTokensPerDay: 1_000_000_000_000, maxCostUsdPerMonth: '0.0000000001' },
    pauseAfterFailures: 1,
    webhookUrl: 'https://example.com/hooks/routine?x=1',
    deliver: 'changed',
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

test('an empty change changes nothing but the version', async ({ key }) => {
  const id = await createRoutine(key);
  const before = (await key.get(`/v1/routines/${id}`)).data;
  const patched = await key.patch(`/v1/routines/${id}`, {});
  expect(patched.status).toBe(200);
  const { nextRuns: _n, activation: _a, callableTools: _c, mailDelivery: _m, ...shown } = before;
  const { skillsBehind: _s, factsBehind: _f, proposal: _p, ...rest } = shown;
  expect(patched.data).toEqual({ ...rest, updatedAt: patched.data.updatedAt });
});

test.for([
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
  async ([_name, schedule], { key }) => {
    const created = await key.post('/v1/routines', routineBody({ schedule }));
    expect(codeOf(created)).toEqual([400, 'invalid_schedule']);
    expect(created.body.error.message).toMatch(/^schedule: /);
    const id = await createRoutine(key);
    expect(codeOf(await key.patch(`/v1/routines/${id}`, { schedule }))).toEqual([400, 'invalid_schedule']);
  },
);

test('the next five times are those of the schedule in its zone', async ({ key }) => {
  const id = await createRoutine(key, { schedule: '30 9 29 2 *', timezone: 'Asia/Kolkata' });
  const { nextRuns } = (await key.get(`/v1/routines/${id}`)).data;
  const years = nextRuns.map((time: string) => Number(time.slice(0, 4)));
  for (const year of years) expect(year % 4).toBe(0);
  for (const time of nextRuns) expect(time).toMatch(/^\d{4}-02-29T04:00:00\.000Z$/);
});

test.for(['Mars/Olympus', 'EST5', '', 'Europe/Berlin '])('%j is no time zone', async (timezone, { key }) => {
  const answer = await key.post('/v1/routines', routineBody({ timezone }));
  expect(codeOf(answer)).toEqual([400, 'invalid_timezone']);
});

test('a placeholder without a value is invalid_variable, on create and when an update takes the value away', async ({
  key,
}) => {
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

test('names of variables are checked, and the built-in ones are taken', async ({ key }) => {
  for (const name of ['1st', 'a-b', 'a b', 'now', 'date', 'x'.repeat(65)]) {
    const answer = await key.post('/v1/routines', routineBody({ variables: { [name]: 'x' } }));
    expect([name, ...codeOf(answer)]).toEqual([name, 400, 'invalid_request']);
    expect(answer.body.error.message).toContain(`variables.${name}`);
  }
});

test('text that would be too large when rendered is refused without making it', async ({ key }) => {
  const multiplied = { instructions: '{{a}}'.repeat(19_000), variables: { a: 'x'.repeat(10_000) } };
  const refused = await key.post('/v1/routines', routineBody(multiplied));
  expect(codeOf(refused)).toEqual([400, 'invalid_request']);
  expect(refused.body.error.message).toMatch(/^instructions: .* 190000000 characters/);

  const id = await createRoutine(key, {
    instructions: '{{a}}'.repeat(40),
    variables: multiplied.variables,
  });
  const patched = await key.patch(`/v1/routines/${id}`, { instructions: '{{ a }}'.repeat(41) });
  expect(patched.body.error.message).toMatch(/^instructions: .* 410000 characters/);
  const skills = await Promise.all(
    Array.from({ length: 2 }, async (_, index) => {
      const skill = { name: `Long ${index}`, instructions: 'x'.repeat(1_000) };
      return (await key.post('/v1/skills', skill)).data.id as string;
    }),
  );
  const withSkills = await key.patch(`/v1/routines/${id}`, { skills });
  expect(withSkills.body.error.message).toMatch(/^skills: .* 402502 characters/);

  const variables = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`v${index}`, 'x'.repeat(9_999)]));
  const many = await key.patch(`/v1/routines/${id}`, { variables: { ...variables, a: '' } });
  expect(many.body.error.message).toBe('variables: the values are longer than 100000 characters together');
  expect((await key.get(`/v1/routines/${id}`)).data.skills).toEqual([]);
});

test.for([
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
])('%j is no webhook URL', async (webhookUrl, { key }) => {
  const answer = await key.post('/v1/routines', routineBody({ webhookUrl }));
  expect(codeOf(answer)).toEqual([400, 'invalid_webhook_url']);
  expect(answer.body.error.message).toMatch(/^webhookUrl: /);
});

test(
  'the webhook secret is shown once: on creation, or when a URL is first set',
  proves('routine.webhookUrl', 'routine.webhookSecret'),
  async ({ key, service }) => {
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
    const rotate = (body?: unknown) => key.post(`/v1/routines/${bare.data.id}/webhook-secret`, body);
    const rotated = await rotate();
    expect(rotated.data.webhookSecret).toMatch(/^whsec_/);
    expect(rotated.data.webhookSecret).not.toBe(later.data.webhookSecret);
    for (const body of [undefined, {}, { force: false }]) {
      expect(codeOf(await rotate(body))).toEqual([409, 'rotation_in_progress']);
    }
    expect(codeOf(await rotate({ force: 'yes' }))).toEqual([400, 'invalid_request']);
    const forced = await rotate({ force: true });
    expect(forced.data.webhookSecret).toMatch(/^whsec_/);
    const { database } = service.deps;
    await changeRoutines(database, bare.data.id, { webhookSecretPreviousUntil: AT_ONCE });
    expect((await rotate()).status).toBe(200);
    const none = await createRoutine(key);
    expect(codeOf(await key.post(`/v1/routines/${none}/webhook-secret`))).toEqual([409, 'webhook_not_configured']);
  },
);

test(
  'inline tools are refused, on create and on update, and an empty list is nothing',
  proves('400 tool_policy_requires_connection', 'routine.toolPolicies'),
  async ({ key }) => {
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
  async ({ key, bobsKey }) => {
    const foreign = await createRoutine(bobsKey);
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
    expect((await bobsKey.get(`/v1/routines/${foreign}`)).data.state).toBe('draft');
  },
);

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error?.code];
}
