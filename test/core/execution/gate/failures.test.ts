import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { askUrl } from '#core/execution/gate/ask-url.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { oneOfEach } from '#test/support/properties.ts';
import { createRoutine } from '#test/support/routines.ts';
import { guardedClient, localClient } from '#test/lib/outbound/receiver.ts';
import { activate, scheduledRun, startPage, type WatchedPage } from './support.ts';

const test = serviceTest({ worker: true });

type Answer = NonNullable<WatchedPage['instead']>;

const FAILURES: [string, Answer, string, RegExp][] = [
  ['responds with 500', (_, response) => response.writeHead(500).end(), 'status', /with 500\.$/],
  ['responds with 404', (_, response) => response.writeHead(404).end(), 'status', /with 404\.$/],
  ['responds with 304 unasked', (_, response) => response.writeHead(304).end(), 'status', /with 304\.$/],
  [
    'redirects in a circle',
    (_, response) => response.writeHead(302, { location: '/' }).end(),
    'unreachable',
    /too many redirects\.$/,
  ],
  [
    'sends more than 64 kB',
    (_, response) => response.end(`["${'x'.repeat(70_000)}"]`),
    'too_large',
    /more than 65536 bytes/,
  ],
  [
    'sends more than 64 kB compressed',
    (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`["${'x'.repeat(1_000_000)}"]`)),
    'too_large',
    /more than 65536 bytes/,
  ],
  ['sends no JSON', (_, response) => response.end('<html>'), 'not_json', /is not JSON/],
  [
    'has nothing at the pointer',
    (_, response) => response.end('{"n":null,"other":1}'),
    'pointer_missing',
    /"\/items" finds nothing/,
  ],
  ['breaks off', (_, response) => response.destroy(), 'unreachable', /no complete HTTP answer/],
];

// On each change, only one failure of each reason is tested.
test.for(oneOfEach(FAILURES, ([, , reason]) => reason))(
  'a gate whose address %s wakes the model and says so',
  async ([, instead, reason, error], { service, key }) => {
    const page = await startPage({ items: [1] });
    const id = await createRoutine(key, {
      instructions: 'Gate: ({{gate.value}})',
      gate: { url: `${page.origin}/`, pointers: ['/items'] },
    });
    await activate(key, id);
    page.instead = instead;
    const run = await scheduledRun(service, key, id);
    expect(run).toMatchObject({
      state: 'succeeded',
      gate: {
        changed: null,
        failed: true,
        reason,
        error: expect.stringMatching(error),
        valuePreview: null,
        valueLength: null,
      },
    });
    expect(run.prompt).toBe('Gate: ()');
    expect(run.briefing).toContain('- Gate: it could not be asked');
    expect(run.briefing).toContain(run.gate.error);
    // The failed gate saw nothing, so the baseline of the next run is unchanged.
    page.instead = undefined;
    expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped' });
  },
);

test('a redirect is followed with the checks of the first address', async ({ service, key }) => {
  const page = await startPage({ items: [1] });
  const id = await createRoutine(key, { gate: { url: `${page.origin}/old` } });
  await activate(key, id);
  page.instead = (request, response) => {
    if (request.url === '/old') response.writeHead(301, { location: '/new' }).end();
    else response.end('{"items":[1]}');
  };
  expect(await scheduledRun(service, key, id)).toMatchObject({
    state: 'skipped',
    gate: { asked: { status: 200, url: `${page.origin}/old` } },
  });
});

const never = new AbortController().signal;

test('nothing is sent to a private address', async () => {
  const page = await startPage('secret');
  const url = page.origin.replace('http:', 'https:');
  const { call, outcome } = await askUrl(guardedClient(), { url, etag: null, signal: never });
  expect(outcome).toMatchObject({
    kind: 'failed',
    reason: 'unreachable',
    error: expect.stringContaining('the address is not public'),
  });
  expect(call).toMatchObject({ sent: false, status: null });
  expect(page.connections()).toBe(0);
});

test('a name that resolves to a private address is refused as well', async () => {
  const client = guardedClient({ lookup: async () => ['10.0.0.1'] });
  const url = 'https://feed.example.org/items';
  const { call, outcome } = await askUrl(client, { url, etag: null, signal: never });
  expect(outcome).toMatchObject({ reason: 'unreachable' });
  expect(call.sent).toBe(false);
});

test('a run that is cancelled, or whose time is over, has not been failed by its gate', async () => {
  const run = new AbortController();
  const reason = new Error('over');
  const page = await startPage('never');
  page.instead = () => run.abort(reason);
  const { signal } = run;
  const asked = askUrl(localClient(), { url: page.origin, etag: null, signal });
  await expect(asked).rejects.toBe(reason);
});
