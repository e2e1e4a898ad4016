import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pino } from 'pino';
import { expect } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { requestBytes, sendRaw } from '#test/api/http/raw.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';

const test = dashboardTest();

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Expects the headers that the contract requires of every response, and none that it excludes. */
function expectHeaders(headers: Headers): void {
  expect(headers.get('content-security-policy')).toBe(POLICY);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('strict-transport-security')).toBe('max-age=63072000; includeSubDomains; preload');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-embedder-policy')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('permissions-policy')).toContain('camera=()');
}

test('the page of a shared result is in no search engine, and sites that it links to do not learn its address', async ({
  dashboard,
}) => {
  const { status, headers } = await fetch(`${dashboard.url}/shared`);
  expect([status, headers.get('referrer-policy'), headers.get('x-robots-tag'), headers.get('set-cookie')]).toEqual([
    200,
    'no-referrer',
    'noindex, nofollow',
    null,
  ]);
  expect(headers.get('content-security-policy')).toBe(POLICY);
});

test('every kind of response carries the same headers', async ({ dashboard, service, person }) => {
  const { Cookie = '' } = person.session.headers;
  const away = await startDashboard(service, await freePort(), {
    API_URL: `http://127.0.0.1:${await freePort()}`,
  });
  const asset = await assetOf(dashboard.url);
  const etag = (await fetch(`${dashboard.url}/theme.js`)).headers.get('etag') ?? '';
  const kinds: Record<string, [status: number, url: string, init?: RequestInit]> = {
    page: [200, `${dashboard.url}/p/prj_x/runs?state=failed`],
    asset: [200, `${dashboard.url}${asset}`],
    'no such file': [404, `${dashboard.url}/assets/none.js`],
    'wrong method': [405, `${dashboard.url}/routines`, { method: 'POST' }],
    proxied: [200, `${dashboard.url}/v1/organizations`, { headers: { Cookie } }],
    'refused by the API': [401, `${dashboard.url}/v1/routines`],
    'no such route of the API': [404, `${dashboard.url}/v1/nothing`],
    'return from a provider': [303, `${dashboard.url}/oauth/callback/github?state=x&code=y`],
    alive: [200, `${dashboard.url}/health`],
    ready: [200, `${dashboard.url}/ready`],
    'API away': [502, `${away.url}/v1/organizations`],
    'not ready': [503, `${away.url}/ready`],
  };
  for (const [kind, [status, url, init]] of Object.entries(kinds)) {
    const response = await fetch(url, { redirect: 'manual', ...init });
    await response.arrayBuffer();
    expect([kind, response.status]).toEqual([kind, status]);
    expectHeaders(response.headers);
  }
  // `fetch` would bypass every cache.
  const unchanged = await raw(dashboard.url, '/theme.js', { 'If-None-Match': etag });
  expect([unchanged.status, unchanged.body]).toEqual([304, '']);
  expectHeaders(unchanged.headers);
  await away.close();
});

test('so does the response to a request that is not HTTP, too long, without a host or with an expectation', async ({
  dashboard,
}) => {
  const long = requestBytes('GET', '/', [`Cookie: a=${'b'.repeat(17_000)}`]);
  const refused: Record<number, string> = {
    400: 'no HTTP at all\r\n\r\n',
    431: long,
  };
  for (const [status, bytes] of Object.entries(refused)) {
    const response = await sendRaw(dashboard.url, bytes);
    expect([response.status, response.body]).toEqual([
      Number(status),
      { error: expect.anything(), requestId: response.headers['x-request-id'] },
    ]);
    expectHeaders(new Headers(response.headers));
  }
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', requestBytes('GET', '/', ['Expect: gold'])]) {
    const response = await sendRaw(dashboard.url, bytes);
    expect(response.status).toBe(200);
    expectHeaders(new Headers(response.headers));
  }
});

test('the page for operators names the headers as they are sent', async ({ dashboard }) => {
  const documented = await readFile('docs/dashboard.md', 'utf8');
  const [, block = ''] = /## Headers\n[^`]*```\n([^`]*)```/.exec(documented) ?? [];
  const lines = block
    .replaceAll(/\n {2}/g, ' ')
    .trim()
    .split('\n');
  expect(lines.length).toBeGreaterThan(7);
  const { headers } = await fetch(dashboard.url);
  const sent = lines.map((line) => {
    const [name = ''] = line.split(': ');
    return `${name}: ${headers.get(name)}`;
  });
  expect(sent).toEqual(lines);
});

test('a page is never kept, and a file with its hash in its name for ever', async ({ dashboard }) => {
  const page = await fetch(`${dashboard.url}/`);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const asset = await fetch(`${dashboard.url}${await assetOf(dashboard.url)}`, {
    headers: { 'Accept-Encoding': 'br' },
  });
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(asset.headers.get('content-encoding')).toBe('br');
  expect(asset.headers.get('vary')).toContain('Accept-Encoding');
  expect(await asset.text()).toContain('function');
});

test('the API gets the caller, the page and the cookie of a request', async ({ service }) => {
  const { url, heard, server } = await listenApi((incoming, respond) => {
    incoming.resume();
    respond(201, { 'X-Custom': 'kept', Connection: 'X-Dropped', 'X-Dropped': '1' }, '{"ok":true}');
  });
  const dashboard = await startDashboard(service, await freePort(), { API_URL: url });
  const response = await fetch(`${dashboard.url}/v1/anything?x=%2F`, {
    method: 'POST',
    headers: {
      Cookie: 'a=b',
      Origin: 'https://app.example.com',
      'Content-Type': 'application/json',
      'X-Forwarded-For': '203.0.113.9',
      'X-Forwarded-Host': 'evil.example',
      'X-Client-Address': '10.0.0.1',
      'X-Request-Id': 'request-0001',
    },
    body: '{"a":1}',
  });
  expect([response.status, await response.json()]).toEqual([201, { ok: true }]);
  expect(response.headers.get('x-custom')).toBe('kept');
  const [{ method, target, headers } = never()] = heard;
  expect([method, target]).toEqual(['POST', '/v1/anything?x=%2F']);
  expect(headers).toMatchObject({
    cookie: 'a=b',
    origin: 'https://app.example.com',
    'content-length': '7',
    'x-forwarded-for': expect.stringMatching(/^203\.0\.113\.9, (::ffff:)?127\.0\.0\.1$/),
    'x-request-id': 'request-0001',
  });
  expect(headers).not.toHaveProperty('x-forwarded-host');
  expect(headers).not.toHaveProperty('x-client-address');
  await dashboard.close();
  server.close();
});

test('an event arrives when it is sent, and a reader who goes away ends the stream', async ({ service }) => {
  let closed: Promise<unknown> = Promise.resolve();
  const { url, server } = await listenApi((incoming, _respond, outgoing) => {
    closed = once(outgoing, 'close');
    incoming.resume();
    outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
    outgoing.write('data: first\n\n');
  });
  const dashboard = await startDashboard(service, await freePort(), { API_URL: url });
  const reader = new AbortController();
  const response = await fetch(`${dashboard.url}/v1/runs/run_x/events`, { signal: reader.signal });
  const { value } = await response.body!.getReader().read();
  expect(new TextDecoder().decode(value)).toBe('data: first\n\n');
  reader.abort();
  await closed;
  await dashboard.close();
  server.close();
});

test('a stream that the API cuts off is cut off, and not ended as if it were complete', async ({ service }) => {
  const { url, server } = await listenApi((incoming, _respond, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
    outgoing.write('data: first\n\n', () => outgoing.destroy());
  });
  const dashboard = await startDashboard(service, await freePort(), { API_URL: url });
  const response = await fetch(`${dashboard.url}/v1/runs/run_x/events`);
  await expect(response.text()).rejects.toThrow('terminated');
  await dashboard.close();
  server.close();
});

test('a browser that leaves before its response does not count as an outage of the API', async ({ service }) => {
  const { url, heard, server } = await listenApi((incoming) => incoming.resume());
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const dashboard = await startDashboard(service, await freePort(), { API_URL: url }, log);
  const left = async (begun: number, init: RequestInit) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = fetch(`${dashboard.url}/v1/runs`, { ...init, signal });
    await expect.poll(() => heard.length).toBe(begun);
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await expect.poll(() => lines.length).toBe(begun);
    expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'request', served: 'api', status: 499 });
  };
  await left(1, {});
  // The client may also disconnect in the middle of its body.
  const endless = new ReadableStream({ start: (sent) => sent.enqueue(new Uint8Array(1_000)) });
  await left(2, { method: 'POST', body: endless, duplex: 'half' });
  await dashboard.close();
  server.close();
});

test('a person who returns from a provider gets a page whose address contains no code', async ({
  dashboard,
  person,
}) => {
  const { Cookie = '' } = person.session.headers;
  const target = '/oauth/callback/github?state=unknown&code=secret-code';
  const signedIn = await fetch(`${dashboard.url}${target}`, {
    redirect: 'manual',
    headers: { Cookie },
  });
  expect(signedIn.status).toBe(303);
  expect(signedIn.headers.get('cache-control')).toBe('no-store');
  const location = signedIn.headers.get('location') ?? '';
  expect(location).toMatch(/^\/returned\/connection\?error=attempt_expired&requestId=[\w-]+$/);
  const signedOut = await fetch(`${dashboard.url}${target}`, { redirect: 'manual' });
  expect(signedOut.headers.get('location')).toMatch(/\?error=authentication_required&/);
});

test('a return address that a browser prefetches does not end a sign-in, and leads nowhere', async ({
  dashboard,
  person,
}) => {
  const { Cookie = '' } = person.session.headers;
  const ahead = await fetch(`${dashboard.url}/oauth/callback/github?state=unknown&code=secret-code`, {
    redirect: 'manual',
    headers: { Cookie, 'Sec-Purpose': 'prefetch;prerender' },
  });
  expect([ahead.status, ahead.headers.get('location')]).toEqual([204, null]);
});

test('a model provider leads to a page too, while the page itself gets the response of the API', async ({
  dashboard,
  person,
}) => {
  const { Cookie = '' } = person.session.headers;
  const target = `${dashboard.url}/v1/model-connections/provider-b/oauth/callback?state=x&code=y`;
  const init = { redirect: 'manual', headers: { Cookie } } as const;
  const navigated = await fetch(target, {
    ...init,
    headers: { Cookie, Accept: 'text/html,application/xhtml+xml' },
  });
  expect([navigated.status, navigated.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/returned\/model-account\?error=[a-z_]+&requestId=/),
  ]);
  const called = await fetch(target, init);
  expect(called.headers.get('content-type')).toContain('application/json');
});

test('it is not ready while its launch switch or origin differs from that of the API', async ({ service }) => {
  const differing = {
    COMMERCIAL_ACQUISITION_ENABLED: 'true',
    UI_ORIGIN: 'https://elsewhere.example.com',
  };
  for (const [name, value] of Object.entries(differing)) {
    const dashboard = await startDashboard(service, await freePort(), { [name]: value });
    const response = await fetch(`${dashboard.url}/ready`);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, 'service_unavailable']);
    expect(error.message).toContain(name);
    await dashboard.close();
  }
});

test('a session begins through the dashboard, with a cookie for its host alone', async ({
  dashboard,
  person,
  service,
}) => {
  const response = await fetch(`${dashboard.url}/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: service.config.UI_ORIGIN },
    body: JSON.stringify({ email: person.email, password: 'correct-horse-battery' }),
  });
  expect(response.status).toBe(200);
  const [cookie = ''] = response.headers.getSetCookie();
  expect(cookie).toMatch(/HttpOnly/i);
  expect(cookie).toMatch(/SameSite=Lax/i);
  expect(cookie).not.toMatch(/Domain=/i);
});

test('no target leads to another host, or out of the paths that are handed on', async ({ service }) => {
  const here = await listenApi((incoming, respond) => {
    incoming.resume();
    respond(200, {}, '{}');
  });
  const elsewhere = await listenApi((_incoming, respond) => respond(200, {}, 'private'));
  const dashboard = await startDashboard(service, await freePort(), { API_URL: here.url });
  for (const path of ['/v1/x', '/oauth/callback/github?state=a', '/assets/x.js']) {
    const response = await raw(dashboard.url, `${elsewhere.url}${path}`);
    expect([response.status, response.body]).toEqual([400, expect.stringContaining('a path')]);
    expectHeaders(response.headers);
  }
  const outside = '/v1/%2e%2e/../internal/scheduler/tick';
  await raw(dashboard.url, outside);
  expect(here.heard.map(({ target }) => target)).toEqual([outside]);
  expect(elsewhere.heard).toEqual([]);
  await dashboard.close();
  here.server.close();
  elsewhere.server.close();
});

test('only paths of the build are served', async ({ dashboard }) => {
  for (const target of ['/../server.ts', '/assets/..%2f..%2fserver.ts', '//etc/passwd']) {
    const response = await raw(dashboard.url, target);
    expect(response.body).not.toContain('loadConfig');
    expect([200, 404]).toContain(response.status);
  }
});

async function assetOf(url: string): Promise<string> {
  const page = await (await fetch(url)).text();
  return /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? never();
}

function never(): never {
  throw new Error('There is none.');
}

interface Heard {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

type Handler = (
  incoming: IncomingMessage,
  respond: (status: number, headers: Record<string, string>, body: string) => void,
  outgoing: ServerResponse,
) => void;

/** Starts a server in place of the API that records its requests. */
async function listenApi(handle: Handler): Promise<{ url: string; heard: Heard[]; server: Server }> {
  const heard: Heard[] = [];
  const server = createServer((incoming, outgoing) => {
    heard.push({ method: incoming.method, target: incoming.url, headers: incoming.headers });
    handle(incoming, (status, headers, body) => outgoing.writeHead(status, headers).end(body), outgoing);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${port}`, heard, server };
}

/** Sends a target unchanged, which `fetch` would normalize. */
function raw(
  url: string,
  target: string,
  sent: Record<string, string> = {},
): Promise<{ status: number; body: string; headers: Headers }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path: target, headers: sent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      const headers = new Headers();
      for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body, headers }));
    })
      .once('error', reject)
      .end();
  });
}
