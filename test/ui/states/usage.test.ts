import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();
const MODELS = { 'writer-large': 4, 'writer-small': 2, judge: 1, ranker: 1, embedder: 1, old: 1 };

/** Usage of six models on most of the last thirty days, grouped as requested. */
const USED = answer('get', '/v1/usage', ({ query }) => {
  const groupBy = query.get('groupBy') as 'day' | 'routine' | 'model';
  const days = Array.from({ length: 30 }, (_, day) => day).filter((day) => day % 7 !== 6);
  const keys = groupBy === 'day' ? days.map((day) => dayBefore(day)) : Object.keys(MODELS);
  return sample('ProjectUsage', {
    groupBy,
    from: dayBefore(30),
    to: dayBefore(0),
    groups: keys.map((key, nth) => ({
      key,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      steps: 5,
      costUsd: '0.0123',
      inputTokens: 9_000 + 700 * nth,
      outputTokens: 900,
      totalTokens: 9900 + 700 * nth,
      parts: Object.entries(MODELS).map(([model, weight]) => ({
        key: model,
        costUsd: null,
        totalTokens: weight * 990,
      })),
    })),
    total: { totalTokens: 412_000, inputTokens: 400_000, outputTokens: 12_000, steps: 150, costUsd: '0.3690' },
  });
});

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

test('the page of usage in all its states', async ({ api, visit }) => {
  const path = `${AT}/usage`;
  const full = () => api.serve(...FRAME, USED);
  full();
  const { page } = await visit(`${path}?by=routine&days=7`);
  await page.getByRole('table', { name: 'Usage by routine' }).waitFor();
  await page.getByRole('combobox', { name: 'Time' }).click();
  await page.getByRole('option', { name: 'Last 90 days' }).click();
  await page.waitForURL(/days=90/);
  await page.goBack();
  await page.waitForURL(/days=7/);
  await photograph(visit, 'usage', [
    { name: 'full', path, before: full, act: (page) => page.getByRole('img', { name: /Tokens a day/ }).waitFor() },
    { name: 'empty', path, before: () => api.serve(...FRAME) },
    { name: 'loading', path, before: holding('/v1/usage'), loading: true },
    { name: 'failed', path, before: failing('/v1/usage') },
  ]);
});
