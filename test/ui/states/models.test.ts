import type { Page } from 'playwright-core';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, ORGANIZATION } from '../support/frame.ts';
import { failing, forbidding, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const LOCAL = { name: 'ollama', dialect: 'ollama', label: 'Your own server, Ollama', local: true } as const;
const SOURCES = [
  sample('ModelSource', {
    name: 'gateway',
    label: 'The gateway',
    state: 'ready',
    models: 9,
    latencyMs: 80,
    fetchedAt: ago(2),
  }),
  sample('ModelSource', { ...LOCAL, state: 'ready', models: 2, latencyMs: 4, fetchedAt: ago(2) }),
  sample('ModelSource', { name: 'vllm', label: 'vLLM', state: 'unavailable', lastError: 'It cannot be reached.' }),
];
const FREE = { input: '0', output: '0', cachedInput: null };
const MODELS = [
  sample('ModelOption', {
    provider: 'gateway',
    modelId: 'ollama/llama3.2:3b',
    name: 'llama3.2:3b',
    source: 'ollama',
    prices: FREE,
    figures: { prices: 'local' },
  }),
  sample('ModelOption', {
    provider: 'gateway',
    modelId: 'fixture/writer-small',
    name: 'Writer Small',
    source: 'gateway',
    contextTokens: 128_000,
    prices: {
      input: '0.0000025',
      output: '0.00001',
      cachedInput: null,
    },
    figures: {
      prices: 'list',
      contextTokens: 'list',
    },
  }),
];
const TEST = sample('ModelTest', { dryRun: true, modelId: 'ollama/llama3.2:3b', estimate: { costUsd: '0' } });

test('the page of models in all its states', async ({ api, visit }) => {
  const path = `${AT}/models`;
  const read = /^\/v1\/models?/;
  const full = [
    ...FRAME,
    answer('get', '/v1/model-sources', SOURCES),
    answer('get', '/v1/models', MODELS),
    answer('post', '/v1/models/test', TEST),
  ];
  const openMenu = (page: Page) => page.getByRole('button', { name: /^Actions for .*llama/ }).click();
  await photograph(visit, 'models', [
    {
      name: 'full',
      path,
      before: () => api.serve(...full),
      act: (page) => page.getByText('Your own server, Ollama').first().waitFor(),
    },
    {
      name: 'test',
      path,
      async act(page) {
        await openMenu(page);
        await page.getByRole('menuitem', { name: 'Test' }).click();
        await page.getByText(/costs nothing/).waitFor();
      },
    },
    {
      name: 'figures',
      path,
      async act(page) {
        await openMenu(page);
        await page.getByRole('menuitem', { name: 'Enter figures' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'none-found',
      path: `${path}?q=nothing`,
      act: (page) => page.getByText('No model has this name.').waitFor(),
    },
    { name: 'loading', path, before: holding(read), loading: true },
    { name: 'failed', path, before: failing(read) },
    { name: 'forbidden', path, before: forbidding(read) },
    {
      name: 'member',
      path,
      before: () => api.serve(...full, answer('get', '/v1/organizations', [{ ...ORGANIZATION, role: 'member' }])),
      async act(page) {
        await openMenu(page);
        await page.getByText('Only owners and admins can do this.').first().waitFor();
      },
    },
  ]);
});
