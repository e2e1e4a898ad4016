import { expect } from 'vitest';
import { routes } from '#api/routes.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { pathFor } from '#test/support/operations.ts';
import { proves } from '#test/support/proves.ts';
import { requestBytes, sendRaw } from './raw.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = serviceTest({ own: true });

test(
  'a success is data and requestId, a failure is error and requestId, and nothing else',
  proves('envelope.success', 'envelope.failure'),
  async ({ service, key }) => {
    const success = await key.get('/v1/routines');
    expect(success.body).toEqual({ data: [], requestId: success.headers.get('x-request-id') });
    const failure = await service.anonymous.get('/v1/routines');
    expect(failure.body).toEqual({
      error: { code: 'authentication_required', message: expect.any(String) },
      requestId: failure.headers.get('x-request-id'),
    });
    expect(failure.headers.get('content-type')).toMatch(/^application\/json/);
    for (const { headers } of [success, failure]) expect(headers.get('cache-control')).toBe('no-store');
  },
);

test('liveness needs no credential and says nothing else', proves('GET /health'), async ({ service }) => {
  const answer = await service.anonymous.get('/health');
  expect([answer.status, answer.data]).toEqual([200, { status: 'ok' }]);
});

test("a well-formed X-Request-Id is the caller's, any other is replaced", async ({ service }) => {
  const given = await service.anonymous.with({ 'X-Request-Id': 'order-42.retry_1' }).get('/health');
  expect(given.body.requestId).toBe('order-42.retry_1');
  expect(given.headers.get('x-request-id')).toBe('order-42.retry_1');
  for (const bad of ['short', 'has space in it', '<script>alert(1)</script>', 'x'.repeat(129)]) {
    const answer = await service.anonymous.with({ 'X-Request-Id': bad }).get('/health');
    expect(answer.body.requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('HEAD responds as GET does, without a body', async ({ service }) => {
  for (const path of ['/health', '/v1/openapi.json', '/docs']) {
    const head = await fetch(`${service.url}${path}`, { method: 'HEAD' });
    const get = await fetch(`${service.url}${path}`);
    expect([path, head.status]).toEqual([path, 200]);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(await head.text()).toBe('');
    await get.body?.cancel();
  }
  const missing = await fetch(`${service.url}/v1/nothing`, { method: 'HEAD' });
  expect([missing.status, await missing.text()]).toEqual([404, '']);
});

test('the document is compressed for clients that accept it, and sent once to clients that cache it', async ({
  service,
}) => {
  const address = `${service.url}/v1/openapi.json`;
  const plain = await fetch(address, { headers: { 'Accept-Encoding': 'identity' } });
  const zipped = await fetch(address, { headers: { 'Accept-Encoding': 'gzip' } });
  expect([plain, zipped].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
  expect(Number(zipped.headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')) / 5);
  expect(await zipped.json()).toEqual(await plain.json());
  const kept = await fetch(address, { headers: { 'If-None-Match': plain.headers.get('etag')! } });
  expect([kept.status, (await kept.text()).length]).toEqual([304, 0]);

  const forKeys = await fetch(`${address}?for=keys`);
  expect(forKeys.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  const paths = Object.keys((JSON.parse(await forKeys.text()) as { paths: object }).paths);
  expect([paths.includes('/v1/routines'), paths.includes('/v1/billing')]).toEqual([true, false]);
  const other = await service.anonymous.get('/v1/openapi.json?for=people');
  expect([other.status, other.body.error]).toEqual([
    400,
    { code: 'invalid_request', message: 'for: must be keys, or left out for all operations' },
  ]);
});

test('a reader finds the sections of the documents that have some words', async ({ service }) => {
  const search = async (query: string) => {
    const response = await fetch(`${service.url}/docs/search?q=${encodeURIComponent(query)}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
    return response.text();
  };
  const drift = await search('REFUSE-drift');
  expect(drift).toContain('<a href="/docs/routines-as-files.md">');
  expect(drift).toContain('<mark>refuse-drift</mark>');
  expect(await search('ras logout')).toMatch(/<li><a href="\/docs\/cli\.md">/);
  expect(await search('zebra xylophone')).toContain('<p>0 sections with all words.</p>');
  expect(await search('"><script>alert(1)</script>')).not.toContain('<script');
  expect(await search('')).not.toContain('sections');
  expect(await (await fetch(`${service.url}/docs`)).text()).toContain('href="/docs/search"');
});

test('/llms.txt lists the documents, each of which is there in Markdown', async ({ service }) => {
  const list = await (await fetch(`${service.url}/llms.txt`)).text();
  const addresses = [...list.matchAll(/\((http[^)]+\.md)\)/g)].map(([, address = '']) => address);
  expect(addresses.length).toBeGreaterThan(20);
  for (const address of addresses) {
    const response = await fetch(address);
    expect(response.headers.get('content-type'), address).toBe('text/markdown; charset=utf-8');
    expect(await response.text()).toMatch(/^# /);
  }
  for (const path of ['/docs/nothing.md', '/docs/..%2FREADME.md', '/docs/adr.md']) {
    expect(await service.anonymous.get(path), path).toMatchObject({ status: 404 });
  }
});

test('a method that a path does not have is 405 with the ones it has', async ({ key }) => {
  const byPath = Map.groupBy(routes, ({ spec }) => spec.path);
  for (const [nth, [path, known]] of [...byPath].entries()) {
    const methods = new Set<string>(known.map(({ spec }) => spec.method));
    if (methods.has('GET')) methods.add('HEAD');
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !methods.has(method));
    // On each change each path is tried with one of them, by turns.
    for (const method of FULL_SIZE ? others : [others[nth % others.length]!]) {
      const answer = await key.send(method, pathFor({ path }));
      const allow = new Set(answer.headers.get('allow')?.split(', '));
      expect([method, path, answer.status, allow]).toEqual([method, path, 405, methods]);
      expect(answer.body.error.code).toBe('method_not_allowed');
    }
  }
  const answer = await key.send('PUT', '/v1/api-keys');
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'HEAD, GET, POST']);
});

test('a fixed path is never read as an id, with any method', async ({ key }) => {
  for (const [method, path, allow] of [
    ['PATCH', '/v1/connections/providers', 'HEAD, GET'],
    ['DELETE', '/v1/connections/providers', 'HEAD, GET'],
    ['GET', '/v1/connections/api-key/accounts', 'POST'],
  ] as const) {
    const answer = await key.send(method, path);
    expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([method, path, 405, allow]);
  }
});

test.for(['TRACE', 'PROPFIND', 'PURGE', 'QUERY'])('%s is no method of anything', async (method, { service }) => {
  const known = await sendRaw(service.url, requestBytes(method, '/v1/routines'));
  expect([known.status, known.body.error.code]).toEqual([405, 'method_not_allowed']);
  const auth = await sendRaw(service.url, requestBytes(method, '/auth/get-session'));
  expect([auth.status, auth.body.error.code]).toEqual([405, 'method_not_allowed']);
});

test('an unknown path is route_not_found, in any spelling', async ({ service }) => {
  for (const path of [
    '/',
    '/v1',
    '/v2/routines',
    '/v1/routines/',
    '/V1/ROUTINES',
    '/v1//routines',
    '/%',
    '/v1/%2e%2e',
  ]) {
    const answer = await sendRaw(service.url, requestBytes('GET', path));
    expect([path, answer.status, answer.body.error.code]).toEqual([path, 404, 'route_not_found']);
  }
});

test('only JSON can be had', async ({ key }) => {
  for (const accept of ['text/html', 'application/xml;q=1, text/*', 'application/json;q=0']) {
    const answer = await key.with({ Accept: accept }).get('/v1/routines');
    expect([accept, answer.status, answer.body.error.code]).toEqual([accept, 406, 'not_acceptable']);
  }
  for (const accept of ['application/json', '*/*', 'application/*', 'text/html, */*;q=0.1']) {
    expect([accept, (await key.with({ Accept: accept }).get('/v1/routines')).status]).toEqual([accept, 200]);
  }
});

test('two Host headers are refused', async ({ service }) => {
  const answer = await sendRaw(service.url, requestBytes('GET', '/health', ['Host: evil.example']));
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
});

test('no Host header is refused', async ({ service }) => {
  const answer = await sendRaw(service.url, 'GET /health HTTP/1.1\r\n\r\n');
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
});

test.for(['http://evil.example/health', '*', 'localhost:80'])(
  'the request target %s is refused',
  async (target, { service }) => {
    const method = target === '*' ? 'OPTIONS' : 'GET';
    const answer = await sendRaw(service.url, requestBytes(method, target));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  },
);

test('a transfer coding other than chunked is refused', async ({ service }) => {
  for (const coding of ['xchunked', 'gzip, chunked', 'chunked, identity', 'identity']) {
    const bytes = requestBytes('POST', '/v1/skills', [`Transfer-Encoding: ${coding}`]);
    const answer = await sendRaw(service.url, `${bytes}0\r\n\r\n`);
    expect([coding, answer.status, answer.body.error.code]).toEqual([coding, 400, 'invalid_request']);
  }
});

test('a length beside chunks, a length twice and a length that is no number are refused', async ({ service }) => {
  for (const headers of [
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Content-Length: 2', 'Content-Length: 3'],
    ['Content-Length: two'],
  ]) {
    const answer = await sendRaw(service.url, `${requestBytes('POST', '/v1/skills', headers)}{}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.headers['connection']).toBe('close');
  }
});

test('headers by the hundred are refused by their number, and by the thousand by their size', async ({ service }) => {
  const many = Array.from({ length: 150 }, () => 'a:b');
  const short = await sendRaw(service.url, requestBytes('GET', '/health', many));
  expect([short.status, short.body.error.code]).toEqual([400, 'invalid_request']);
  const big = Array.from({ length: 3_000 }, () => 'a:b');
  const long = await sendRaw(service.url, requestBytes('GET', '/health', big));
  expect([long.status, long.body.error.code]).toEqual([431, 'headers_too_large']);
});

test('bytes that are not HTTP get the envelope and the connection is closed', async ({ service }) => {
  const answer = await sendRaw(service.url, 'HELLO\r\n\r\n');
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.requestId).toBe(answer.headers['x-request-id']);
  expect(answer.headers['connection']).toBe('close');
});

test('the Host header has no part in a link or a cookie', async ({ service, key }) => {
  for (const name of ['first', 'second']) await key.post('/v1/skills', { name, instructions: 'x'.repeat(20) });
  const authorization = `Authorization: ${key.headers['Authorization']}`;
  const bytes = `GET /v1/skills?limit=1 HTTP/1.1\r\nHost: evil.example\r\n${authorization}\r\n\r\n`;
  const answer = await sendRaw(service.url, bytes);
  expect(answer.headers['link']).toMatch(new RegExp(`^<${service.url}/`));
  expect(JSON.stringify(answer)).not.toContain('evil.example');
});

test('every response carries the security headers, and a foreign origin is not named by CORS', async ({
  service,
  key,
}) => {
  const answer = await key.with({ Origin: 'https://evil.example' }).get('/v1/routines');
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'strict-transport-security': 'max-age=63072000; includeSubDomains; preload',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe(service.config.UI_ORIGIN);
  expect(answer.headers.get('content-security-policy')).not.toContain('unsafe-');
  expect(answer.headers.get('cross-origin-embedder-policy')).toBeNull();
});

test('only the documentation page may style itself inline', async ({ service }) => {
  const policies = await Promise.all(
    ['/docs', '/docs/start.js', '/v1/openapi.json'].map(async (path) => {
      const { headers } = await fetch(`${service.url}${path}`);
      return headers.get('content-security-policy') ?? '';
    }),
  );
  expect(policies.map((policy) => policy.includes("style-src 'self' 'unsafe-inline';"))).toEqual([true, false, false]);
  expect(new Set(policies.map((policy) => policy.replace(" 'unsafe-inline'", '')))).toHaveLength(1);
});

test('the documentation begins with routines, and can be filtered', async ({ service }) => {
  const document = await (await fetch(`${service.url}/v1/openapi.json`)).text();
  const { tags } = JSON.parse(document);
  expect(tags.slice(0, 2)).toMatchObject([{ name: 'Routines' }, { name: 'Runs' }]);
  expect(await (await fetch(`${service.url}/docs/start.js`)).text()).toContain('filter: true');
});

test('the preflight of the user interface gets its response without a credential', async ({ service }) => {
  const answer = await fetch(`${service.url}/v1/routines`, {
    method: 'OPTIONS',
    headers: { Origin: service.config.UI_ORIGIN, 'Access-Control-Request-Method': 'POST' },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
});

test(
  'the tick needs its secret, and a service without one says so',
  proves('POST /internal/scheduler/tick', 'auth.scheduler', '503 scheduler_unavailable'),
  async ({ service }) => {
    const secret = service.config.SCHEDULER_SECRET!;
    const tick = (value: string) =>
      service.anonymous.with({ 'X-Scheduler-Secret': value }).post('/internal/scheduler/tick');
    for (const wrong of ['', 'wrong', `${secret}x`, secret.slice(0, -1)]) {
      const answer = await tick(wrong);
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_signature']);
    }
    expect((await tick(secret)).status).toBe(202);
    const bare = await service.replica({ SCHEDULER_SECRET: '' });
    try {
      const answer = await fetch(`${bare.url}/internal/scheduler/tick`, {
        method: 'POST',
        headers: { 'X-Scheduler-Secret': secret },
      });
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ error: { code: 'scheduler_unavailable' } });
    } finally {
      await bare.close();
    }
  },
);
