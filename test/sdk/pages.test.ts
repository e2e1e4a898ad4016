import { expect, test } from 'vitest';
import { collected, served } from './scripted.ts';

const PAGES = [['a', 'b'], ['c', 'd'], ['e']];

/** Makes a list of three pages. */
async function listed() {
  const { ras, requests } = await served(({ url }, response) => {
    const { searchParams } = new URL(url ?? '', 'http://localhost');
    const number = Number(searchParams.get('cursor') ?? 0);
    if (number + 1 < PAGES.length) {
      searchParams.set('cursor', String(number + 1));
      response.setHeader('Link', `<https://ras.example/v1/runs?${searchParams.toString()}>; rel="next"`);
    }
    response.setHeader('X-Request-Id', `req-${number}`);
    response.end(JSON.stringify({ data: PAGES[number], requestId: `req-${number}` }));
  });
  return { runs: ras.runs.list({ state: 'failed', limit: 2 }), requests };
}

test('a list is read to its end, with its filters on every page', async () => {
  const { runs, requests } = await listed();
  expect(await collected(runs)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(requests.map(({ path }) => path)).toEqual([
    '/v1/runs?state=failed&limit=2',
    '/v1/runs?state=failed&limit=2&cursor=1',
    '/v1/runs?state=failed&limit=2&cursor=2',
  ]);
});

test('no page is read before it is needed, and the same list can be read again', async () => {
  const { runs, requests } = await listed();
  expect(requests).toEqual([]);
  expect(await runs.toArray({ limit: 0 })).toEqual([]);
  expect(requests).toEqual([]);
  expect(await runs.toArray({ limit: 2 })).toEqual(['a', 'b']);
  expect(requests).toHaveLength(1);
  expect(await runs.toArray({ limit: 3 })).toEqual(['a', 'b', 'c']);
  expect(requests).toHaveLength(3);
});

test('a page says where the next one begins', async () => {
  const { runs } = await listed();
  const first = await runs.page();
  expect(first).toEqual({ items: ['a', 'b'], nextCursor: '1', requestId: 'req-0' });
  const last = await runs.page({ nextCursor: '2' });
  expect(last).toEqual({ items: ['e'], nextCursor: undefined, requestId: 'req-2' });
});
