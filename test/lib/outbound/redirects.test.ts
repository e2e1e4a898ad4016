import { expect, test, vi } from 'vitest';
import { certificate, localClient, startReceiver } from './receiver.ts';

const CREDENTIALS = {
  authorization: 'Bearer canary',
  cookie: 'session=canary',
  'proxy-authorization': 'Basic canary',
  'x-api-key': 'canary',
  'mcp-session-id': 'canary',
};
const HARMLESS = { accept: 'application/json', 'mcp-protocol-version': '2025-06-18' };

test('a redirect is a response like any other unless following was asked for', async () => {
  const target = await startReceiver((_, response) => response.end());
  const receiver = await startReceiver((_, response) =>
    response.writeHead(302, { location: target.origin }).end('moved'),
  );
  const client = localClient();
  const response = await client.request({ url: receiver.origin, method: 'POST', body: '{}' });
  expect(response).toMatchObject({ status: 302, url: `${receiver.origin}/` });
  expect(response.headers.get('location')).toBe(target.origin);
  const fetched = await client.fetch(receiver.origin, { redirect: 'manual' });
  expect(fetched.status).toBe(302);
  expect(fetched.headers.get('location')).toBe(target.origin);
  expect(await fetched.text()).toBe('moved');
  await expect(client.fetch(receiver.origin, { redirect: 'error' })).rejects.toMatchObject({
    code: 'redirect_refused',
  });
  expect(target.connections()).toBe(0);
});

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://[::ffff:169.254.169.254]/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://metadata.example.com/latest/meta-data/',
  'file:///etc/passwd',
  'http://user:word@localhost/',
  'http://localhost:22/',
  'http://[::1',
])('a redirect to %s is refused', async (location) => {
  const receiver = await startReceiver((_, response) => response.writeHead(307, { location }).end());
  const client = localClient({ lookup: async () => ['169.254.169.254'] });
  const error = await client
    .request({ url: receiver.origin, maxRedirects: 3, headers: CREDENTIALS })
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'redirect_refused', mayHaveArrived: true });
  expect(String(error)).not.toContain('canary');
  await expect(client.fetch(receiver.origin)).rejects.toMatchObject({ code: 'redirect_refused' });
  expect(receiver.received).toHaveLength(2);
});

test('across origins only headers that tell nothing of the caller are kept, also on the way back', async () => {
  const home = await startReceiver((request, response) => {
    if (request.url === '/start') response.writeHead(302, { location: `${away.origin}/away` }).end();
    else response.end('back');
  });
  const away = await startReceiver((_, response) => response.writeHead(302, { location: `${home.origin}/back` }).end());
  const client = localClient();
  const url = `${home.origin}/start`;
  const headers = { ...CREDENTIALS, ...HARMLESS };
  const response = await client.request({ url, headers, maxRedirects: 2 });
  expect(response.body.toString()).toBe('back');
  expect(response.url).toBe(`${home.origin}/back`);
  const fetched = await client.fetch(url, { headers });
  expect(fetched).toMatchObject({ url: `${home.origin}/back`, redirected: true });
  expect(await fetched.text()).toBe('back');

  expect(home.received.map((each) => each.path)).toEqual(['/start', '/back', '/start', '/back']);
  for (const first of [home.received[0], home.received[2]]) {
    expect(first?.headers).toMatchObject(CREDENTIALS);
  }
  for (const later of [...away.received, home.received[1], home.received[3]]) {
    expect(later?.headers).toMatchObject(HARMLESS);
    expect(JSON.stringify(later?.headers)).not.toContain('canary');
  }
});

test('another port of the same host is another origin', async () => {
  const away = await startReceiver((_, response) => response.end());
  const home = await startReceiver((_, response) => response.writeHead(301, { location: away.origin }).end());
  await localClient().request({ url: home.origin, headers: CREDENTIALS, maxRedirects: 1 });
  expect(away.received).toHaveLength(1);
  expect(JSON.stringify(away.received)).not.toContain('canary');
});

test('within an origin credentials and, by 307 and 308, method and body are kept', async () => {
  const receiver = await startReceiver((request, response) => {
    const [, status = '', rest] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? [];
    if (status === '') response.end('there');
    else response.writeHead(Number(status), { location: `/there${rest}` }).end();
  });
  const client = localClient();
  for (const status of [301, 302, 303, 307, 308]) {
    const response = await client.request({
      url: `${receiver.origin}/${status}`,
      method: 'POST',
      headers: { ...CREDENTIALS, 'content-type': 'text/plain' },
      body: 'content',
      maxRedirects: 1,
    });
    expect(response.body.toString()).toBe('there');
    const last = receiver.received.at(-1);
    expect(last?.headers).toMatchObject(CREDENTIALS);
    const isKept = status >= 307;
    expect(last).toMatchObject({
      method: isKept ? 'POST' : 'GET',
      body: isKept ? 'content' : '',
    });
    expect(last?.headers['content-type']).toBe(isKept ? 'text/plain' : undefined);
  }
  await client.request({ url: `${receiver.origin}/303`, method: 'HEAD', maxRedirects: 1 });
  expect(receiver.received.at(-1)?.method).toBe('HEAD');
});

test.each([307, 308])('a request body is not handed on to another origin by %i', async (status) => {
  const away = await startReceiver((_, response) => response.end());
  const home = await startReceiver((_, response) => response.writeHead(status, { location: away.origin }).end());
  const body = 'refresh_token=canary';
  await expect(
    localClient().request({ url: home.origin, method: 'POST', body, maxRedirects: 3 }),
  ).rejects.toMatchObject({ code: 'redirect_refused', mayHaveArrived: true });
  expect(away.connections()).toBe(0);
});

test('a redirect from https to http is refused', async () => {
  const away = await startReceiver((_, response) => response.end());
  const home = await startReceiver((_, response) => response.writeHead(302, { location: away.origin }).end(), {
    tls: true,
  });
  await expect(localClient({ ca: certificate }).request({ url: home.origin, maxRedirects: 3 })).rejects.toMatchObject({
    code: 'redirect_refused',
  });
  expect(home.received).toHaveLength(1);
  expect(away.connections()).toBe(0);
});

test('a loop ends at the limit, and the responses passed over hold no connection open', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(302, { location: '/again' });
    response.write('endless');
  });
  const client = localClient();
  await expect(client.request({ url: receiver.origin, maxRedirects: 3 })).rejects.toMatchObject({
    code: 'redirect_refused',
  });
  expect(receiver.received).toHaveLength(4);
  await expect(client.fetch(receiver.origin)).rejects.toMatchObject({ code: 'redirect_refused' });
  expect(receiver.received).toHaveLength(10);
  await vi.waitFor(() => expect(receiver.open()).toBe(0), 5_000);
});

test('a fault after a redirect says that the request may have arrived', async () => {
  const receiver = await startReceiver((_, response) =>
    response.writeHead(302, { location: 'http://gone.example.com/' }).end(),
  );
  const client = localClient({ lookup: async () => [] });
  await expect(client.request({ url: receiver.origin, maxRedirects: 1 })).rejects.toMatchObject({
    code: 'dns_failure',
    mayHaveArrived: true,
  });
});
