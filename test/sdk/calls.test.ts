import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  ExactNumber,
  KeyReusedError,
  NotFoundError,
  PermissionError,
  PlanError,
  PreconditionFailedError,
  Ras,
  RasError,
  RateLimitError,
  ServerError,
  ApiError,
  TimeoutError,
  type CreateOptions,
} from '../../sdk/src/index.ts';
import { pauseBefore } from '../../sdk/src/retry.ts';
import { CUT, failure, HANG, scripted } from './scripted.ts';

const SKILL = { name: 'Sums', instructions: 'Add what is to be added.' };
const CREATED = { status: 201, body: { data: { id: 'skl_1' }, requestId: 'req-2' } };

describe('a failure that may pass', () => {
  test.each([
    ['a cut in the middle of the response', CUT],
    ['500', { status: 500, body: failure('internal_error') }],
    ['503 of a proxy', { status: 503, body: '<h1>Service Unavailable</h1>' }],
    ['429', { status: 429, body: failure('rate_limited') }],
    ['408', { status: 408, body: failure('request_timeout') }],
    ['a first request under way', { status: 409, body: failure('idempotency_in_progress') }],
    ['a page of a proxy in place of a response', { body: '<h1>Sign in to the network</h1>' }],
  ] as const)('has the call made again with the same key and body: %s', async (_, first) => {
    const { ras, requests } = await scripted([first, first, CREATED]);
    expect(await ras.skills.create(SKILL)).toEqual({ id: 'skl_1' });
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ body }) => body))).toEqual(new Set([JSON.stringify(SKILL)]));
    const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  test('is told of when it does not pass, after two more attempts or as many as are wanted', async () => {
    const { ras, requests } = await scripted([{ status: 500, body: failure('internal_error') }]);
    await expect(ras.skills.create(SKILL)).rejects.toBeInstanceOf(ServerError);
    expect(requests).toHaveLength(3);
    await expect(ras.skills.create(SKILL, { maxRetries: 0 })).rejects.toBeInstanceOf(ServerError);
    expect(requests).toHaveLength(4);
  });

  test('is left to the caller where another attempt may do harm', async () => {
    const { ras, requests } = await scripted([{ status: 500, body: failure('internal_error') }]);
    const once = [
      () => ras.routines.update('rtn_1', { name: 'New' }, { ifMatch: '"3"' }),
      () => ras.skills.put('house-style', SKILL, { ifNoneMatch: '*' }),
      () => ras.runs.cancel('run_1'),
      () => ras.skills.delete('skl_1'),
      () => ras.connections.delete('con_1'),
    ];
    for (const call of once) await expect(call()).rejects.toBeInstanceOf(ServerError);
    expect(requests).toHaveLength(once.length);
    expect(requests[0]?.headers['if-match']).toBe('"3"');
    expect(requests[1]?.headers['if-none-match']).toBe('*');
  });

  test('has a call that was certainly not carried out made again, whichever it is', async () => {
    const { ras, requests } = await scripted([{ status: 429, body: failure('rate_limited') }, {}]);
    await ras.runs.cancel('run_1');
    expect(requests).toHaveLength(2);
  });
});

test('each call has its own key, or the key that the caller gives', async () => {
  const { ras, requests } = await scripted([CREATED]);
  const create = (options?: CreateOptions) => ras.skills.create(SKILL, options);
  await create();
  await create();
  await create({ idempotencyKey: 'mine' });
  await ras.skills.read('skl_1');
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(4);
  expect(keys.slice(2)).toEqual(['mine', undefined]);
});

test('the pause is as long as the service wants, and else grows by chance', () => {
  const wait = (error: unknown, attempt: number) => pauseBefore(error, { repeatable: true, attempt }) ?? Number.NaN;
  const limited = (retryAfterMs: number) => new RateLimitError({ ...LIMITED, retryAfterMs });
  expect(wait(limited(7_000), 0)).toBe(7_000);
  expect(wait(limited(90_000), 0)).toBeNaN();
  const pauses = Array.from({ length: 100 }, () => wait(new ConnectionError('gone'), 1));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
  expect(new Set(pauses).size).toBeGreaterThan(50);
  expect(wait(new ConnectionError('gone'), 50)).toBeLessThanOrEqual(8_000);
  expect(wait(new TypeError('a fault of the caller'), 0)).toBeNaN();
});

const LIMITED = { details: [], status: 429, code: 'rate_limited', message: '', requestId: undefined };

describe('an error', () => {
  test.each([
    [400, 'invalid_request', BadRequestError],
    [401, 'invalid_api_key', AuthenticationError],
    [402, 'plan_write_required', PlanError],
    [403, 'insufficient_scope', PermissionError],
    [404, 'skill_not_found', NotFoundError],
    [409, 'routine_archived', ConflictError],
    [412, 'precondition_failed', PreconditionFailedError],
    [413, 'body_too_large', ApiError],
    [422, 'idempotency_key_reused', KeyReusedError],
    [429, 'rate_limited', RateLimitError],
    [502, 'provider_error', ServerError],
  ] as const)('is of its kind: %i', async (status, code, Kind) => {
    const { ras } = await scripted([{ status, body: failure(code, 'What is wrong.') }], {
      maxRetries: 0,
    });
    const error = await ras.skills.read('skl_1').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Kind);
    expect(error).toBeInstanceOf(RasError);
    expect(error).toMatchObject({
      name: Kind.name,
      status,
      code,
      message: 'What is wrong.',
      requestId: 'req-1',
      retryAfterMs: 0,
    });
  });

  test('of a proxy has its status and no code of the service', async () => {
    const { ras } = await scripted([{ status: 404, body: '<h1>nginx</h1>', headers: { 'X-Request-Id': 'proxy-1' } }]);
    await expect(ras.skills.read('skl_1')).rejects.toMatchObject({
      status: 404,
      code: 'unknown',
      requestId: 'proxy-1',
    });
  });

  test('says when a Retry-After that is a date has come', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { ras, requests } = await scripted([
      { status: 503, body: failure('service_unavailable'), headers: { 'Retry-After': date } },
    ]);
    const error = await ras.models.list().catch((reason: unknown) => reason);
    expect(requests).toHaveLength(1);
    const { retryAfterMs = 0 } = error instanceof ServerError ? error : {};
    expect(retryAfterMs).toBeGreaterThan(3_500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });

  test('is none of the service where nothing listens', async () => {
    const ras = new Ras({ apiKey: 'ras_1', baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
    const error = await ras.models.list().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ cause: expect.any(Error) });
  });

  test('and what is shown of a client never hold the API key', async () => {
    const { ras } = await scripted([CUT], { maxRetries: 0 });
    const error = await ras.skills.create(SKILL).catch((reason: unknown) => reason);
    for (const shown of [error, ras, ras.skills]) {
      expect(inspect(shown, { depth: 10, showHidden: true })).not.toContain('ras_canary');
    }
  });
});

describe('a call', () => {
  test('ends when its time is over', async () => {
    const { ras } = await scripted([HANG], { maxRetries: 0 });
    await expect(ras.models.list({ timeoutMs: 20 })).rejects.toBeInstanceOf(TimeoutError);
  });

  test('ends when its signal aborts, also between two attempts', async () => {
    const hanging = await scripted([HANG]);
    const waiting = await scripted([
      { status: 503, body: failure('service_unavailable'), headers: { 'Retry-After': '50' } },
    ]);
    for (const { ras, requests } of [hanging, waiting]) {
      const gone = new AbortController();
      const call = ras.models.list({ signal: gone.signal });
      await expect.poll(() => requests.length).toBe(1);
      gone.abort(new Error('no longer wanted'));
      await expect(call).rejects.toThrow('no longer wanted');
      expect(requests).toHaveLength(1);
    }
  });

  test('gives what came beside its data to who asks', async () => {
    const { ras } = await scripted([
      {
        body: { data: { id: 'rtn_1' }, requestId: 'req-9' },
        headers: {
          ETag: '"4"',
          'X-Request-Id': 'req-9',
          'X-RateLimit-Limit': '60',
          'X-RateLimit-Remaining': '59',
          'Idempotent-Replayed': 'true',
        },
      },
    ]);
    expect(await ras.routines.read('rtn_1').withResponse()).toEqual({
      data: { id: 'rtn_1' },
      status: 200,
      etag: '"4"',
      requestId: 'req-9',
      limits: { limit: 60, remaining: 59 },
      replayed: true,
      nextCursor: undefined,
    });
  });

  test('that fails is one rejection, whichever way it is looked at', async () => {
    const { ras } = await scripted([{ status: 404, body: failure('run_not_found') }]);
    await expect(ras.runs.read('run_1').withResponse()).rejects.toBeInstanceOf(NotFoundError);
    await expect(ras.runs.read('run_1')).rejects.toBeInstanceOf(NotFoundError);
    let settled = 0;
    const counted = ras.runs.read('run_1').finally(() => {
      settled += 1;
    });
    await expect(counted).rejects.toBeInstanceOf(NotFoundError);
    expect([settled, await ras.runs.read('run_1').catch(() => 'caught')]).toEqual([1, 'caught']);
  });

  test('does not follow a redirect, which would take the API key along', async () => {
    const elsewhere = await scripted([{}]);
    const { ras } = await scripted([{ status: 307, headers: { Location: elsewhere.origin } }]);
    await expect(ras.models.list()).rejects.toMatchObject({ status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  test.each(['', '.', '..'])('is not made with "%s" for an id', async (id) => {
    const { ras, requests } = await scripted([{}]);
    await expect(ras.skills.delete(id)).rejects.toThrow('is no id');
    expect(requests).toEqual([]);
  });

  test('encodes ids and queries so that they keep their values', async () => {
    const { ras, requests } = await scripted([{ body: { data: [], requestId: 'req-1' } }]);
    await ras.routines.runs('a/b?c', { state: 'failed', since: '2026-01-01T00:00:00+01:00' }).page();
    expect(requests[0]?.path).toBe('/v1/routines/a%2Fb%3Fc/runs?state=failed&since=2026-01-01T00%3A00%3A00%2B01%3A00');
  });
});

describe('a client', () => {
  test('takes key and address of the environment, where none are given', async () => {
    const { origin, requests } = await scripted([{}]);
    Object.assign(process.env, { RAS_API_KEY: 'ras_env', RAS_API_URL: `${origin}/` });
    try {
      await new Ras().models.list();
    } finally {
      delete process.env['RAS_API_KEY'];
      delete process.env['RAS_API_URL'];
    }
    expect(requests[0]).toMatchObject({
      path: '/v1/models',
      headers: { authorization: 'Bearer ras_env' },
    });
  });

  test('is not made without a key, without an address, or with one that is none', () => {
    expect(() => new Ras({ baseUrl: 'http://localhost' })).toThrow('Give apiKey');
    expect(() => new Ras({ apiKey: 'ras_1' })).toThrow('Give baseUrl');
    expect(() => new Ras({ apiKey: 'ras_1', baseUrl: 'localhost:3000' })).toThrow('no address');
  });
});

test('a number that JavaScript would round keeps its digits, and is sent back with them', async () => {
  const data = '{"id":"run_1","data":{"order":1234567890123456789,"text":"a\\": 1234567890123456789","price":0.5}}';
  const { ras, requests } = await scripted([{ body: `{"data":${data},"requestId":"req-1"}` }], { exactNumbers: true });
  const run = await ras.runs.read('run_1');
  expect(run.data).toMatchObject({ order: new ExactNumber('1234567890123456789'), price: 0.5 });
  expect(String(Object(run.data).order)).toBe('1234567890123456789');
  expect(JSON.stringify(run)).toBe(data);
  await ras.skills.create({ ...SKILL, name: JSON.stringify(run.data) });
  expect(requests.at(-1)?.body).toContain('1234567890123456789');
});

test('an error names the first field that is wrong, and every other; headers come beside the data', async () => {
  const details = [
    { param: 'name', message: 'must not be empty' },
    { param: 'budget.maxTokensPerDay', message: 'must be at least 1' },
  ];
  const refusal = Response.json({ error: { code: 'invalid_request', message: 'name: …', details } }, { status: 400 });
  const headers = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '12' };
  const success = Response.json({ data: { id: 'run_1' }, requestId: 'r' }, { headers: { ...headers, Location: '/x' } });
  const answers = [refusal, success];
  const ras = new Ras({
    apiKey: 'k',
    baseUrl: 'http://localhost',
    fetch: async () => answers.shift() ?? Response.error(),
  });
  const error = await ras.runs.read('run_1').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ param: 'name', details });
  const { limits, location } = await ras.runs.read('run_1').withResponse();
  expect({ limits, location }).toEqual({ limits: { limit: 60, remaining: 59, resetSeconds: 12 }, location: '/x' });
});
