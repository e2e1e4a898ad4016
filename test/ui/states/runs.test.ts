import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, forbidding, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const RUNS = [
  sample('RunSummary', {
    id: 'run_01kx3k9y6wfd8r0v5m2c7t4q5a',
    routineName: 'Weekly site audit',
    state: 'succeeded',
    outcome: 'done',
    resultPreview: 'Two pages are gone',
    createdAt: ago(9),
    startedAt: ago(9),
    finishedAt: ago(8),
    usage: {
      totalTokens: 2345,
      costUsd: '0.0123',
    },
  }),
  sample('RunSummary', {
    id: 'run_01kx3k9y6wfd8r0v5m2c7t4q5b',
    state: 'failed',
    reason: 'check_failed',
    failureClass: 'routine',
    routineName: 'Sources that competitors cite on their pricing pages',
    trigger: 'manual',
    errorMessage: 'Fewer than 3 distinct sources.',
    createdAt: ago(20),
    startedAt: ago(20),
    finishedAt: ago(19),
  }),
  ...[30, 210].map((minutes, nth) =>
    sample('RunSummary', {
      id: `run_01kx3k9y6wfd8r0v5m2c7t4q5${'cd'[nth]}`,
      routineName: 'Feed watch',
      state: 'skipped',
      reason: 'overlap',
      scheduledFor: ago(minutes),
      createdAt: ago(minutes),
      skipped: {
        count: 3 - nth,
        from: ago(minutes),
        until: ago(minutes - 2),
      },
    }),
  ),
];

test('the list of runs in all its states', async ({ api, visit }) => {
  const path = `${AT}/runs`;
  const listed = answer('get', '/v1/runs', ({ query }) =>
    RUNS.filter(
      ({ state, routineName }) => (query.get('state') ?? state) === state && routineName.includes(query.get('q') ?? ''),
    ),
  );
  const full = () => api.serve(...FRAME, listed);
  await photograph(visit, 'runs', [
    {
      name: 'full',
      path,
      before: full,
      async act(page) {
        // Consecutive skipped occurrences share one row.
        const skipped = page.getByRole('row', { name: /Feed watch/ });
        await skipped.getByText('×5').waitFor();
        expect(await skipped.count()).toBe(1);
      },
    },
    {
      name: 'of-backfill',
      path: `${path}?backfillId=bkf_01kx3k9y6wfd8r0v5m2c7t4q2k`,
      act: (page) => page.getByText('Of one backfill').waitFor(),
    },
    {
      name: 'filtered',
      holds: true,
      path: `${path}?state=failed&trigger=manual`,
      async act(page) {
        await page.getByRole('row', { name: /Sources that competitors cite/ }).waitFor();
        expect(
          api.asked.some((each) =>
            /\/v1\/runs\?.*state=failed.*trigger=manual|trigger=manual.*state=failed/.test(each),
          ),
        ).toBe(true);
      },
    },
    {
      name: 'chips',
      path: `${path}?state=failed&trigger=manual&since=2026-11-23`,
      async act(page) {
        await page.getByRole('button', { name: 'From 23 Nov' }).click();
        await page.waitForURL(({ search }) => search === '?state=failed&trigger=manual');
        await page.getByRole('button', { name: 'State: Failed' }).waitFor();
        await page.getByRole('button', { name: 'Filter' }).click();
        await page.getByRole('combobox', { name: 'Outcome' }).waitFor();
      },
    },
    {
      name: 'searched',
      holds: true,
      path,
      async act(page) {
        await page.getByRole('searchbox', { name: 'Search runs' }).pressSequentially('Weekly', { delay: 30 });
        await page.waitForURL(/\?q=Weekly$/);
        await expect.poll(() => page.getByRole('row').count()).toBe(2);
        await page.goBack();
        await expect.poll(() => page.getByRole('searchbox', { name: 'Search runs' }).inputValue()).toBe('');
        await page.goForward();
        await expect.poll(() => page.getByRole('row').count()).toBe(2);
      },
    },
    { name: 'nothing-fits', path: `${path}?state=cancelled`, act: (page) => page.getByText('No run fits').waitFor() },
    {
      name: 'empty',
      path,
      before: () => api.serve(...FRAME),
      act: (page) => page.getByText('No runs yet').waitFor(),
    },
    { name: 'loading', path, before: holding('/v1/runs'), loading: true, holds: true },
    { name: 'failed', path, before: failing('/v1/runs'), act: (page) => page.getByRole('alert').waitFor() },
    { name: 'forbidden', path, before: forbidding('/v1/runs'), act: (page) => page.getByRole('alert').waitFor() },
  ]);
});
