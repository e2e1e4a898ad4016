import type { Page } from 'playwright-core';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const KEYS = ['Nightly import', 'A dashboard of another team, which only reads runs'].map((name, nth) =>
  sample('ApiKey', { id: `key_01kx3k9y6wfd8r0v5m2c7t4q5${nth}`, name, scopes: ['runs:read'], createdAt: ago(90) }),
);

test('the page of API keys in all its states', async ({ api, visit }) => {
  const path = `${AT}/api-keys`;
  const full = () => api.serve(...FRAME, answer('get', '/v1/api-keys', KEYS));
  const press = (name: string) => (page: Page) => page.getByRole('button', { name }).first().click();
  await photograph(visit, 'api-keys', [
    { name: 'full', path, before: full, act: (page) => page.getByRole('row', { name: /Nightly import/ }).waitFor() },
    { name: 'loading', path, before: holding('/v1/api-keys'), loading: true },
    { name: 'failed', path, before: failing('/v1/api-keys'), act: (page) => page.getByRole('alert').waitFor() },
    { name: 'replace', path, act: press('Replace Nightly import') },
    { name: 'revoke', path, act: press('Revoke Nightly import') },
    {
      name: 'empty',
      path,
      before: () => api.serve(...FRAME),
      act: (page) => page.getByText('No API keys yet').waitFor(),
    },
    { name: 'new', path, act: press('New API key') },
  ]);
});
