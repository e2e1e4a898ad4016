import { expect } from 'vitest';
import { startGateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { gatewaysFile } from '#test/core/models/directory/support.ts';
import { type Person } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';

const writer = await startGateway({ port: 0, log: () => undefined });
const own = await startGateway({ port: 0, log: () => undefined });
own.control.script({
  target: 'models',
  times: null,
  behaviour: {
    kind: 'list',
    models: [
      { id: 'llama3.2:3b', owned_by: 'library' },
      { id: 'qwen3:8b', owned_by: 'library', context_length: 40_960 },
    ],
  },
});
const away = await freePort();

const test = dashboardTest({
  env: {
    WRITER_KEY: 'a-key',
    GATEWAYS_FILE: await gatewaysFile([
      {
        name: 'writers',
        baseUrl: writer.url,
        apiKeyVariable: 'WRITER_KEY',
        models: { 'fixture/unpriced-long': { prices: { input: '0.000002', output: '0.000008' } } },
      },
      {
        name: 'ollama',
        baseUrl: own.url,
        apiKeyVariable: 'WRITER_KEY',
        dialect: 'ollama',
        free: true,
      },
      { name: 'vllm', baseUrl: `http://127.0.0.1:${away}/v1`, dialect: 'vllm', free: true },
    ]),
  },
});

function pathOf({ projectId }: Person): string {
  return `/p/${projectId}/models`;
}

test('a model is tested from the keyboard, which shows first the cost and then the findings', async ({
  visit,
  person,
}) => {
  const { page, expectClean } = await visit(pathOf(person), { as: person });
  const actions = page.getByRole('button', { name: 'Actions for writers/fixture/writer-small' });
  await actions.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Test' }).waitFor();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^The test costs at most \$0\.00\d+, for [\d,]+ tokens\.$/).waitFor();
  writer.control.script(
    { marker: 'one word', behaviour: { kind: 'text', text: 'ready' } },
    { marker: 'Call the tool', behaviour: { kind: 'error', status: 400 } },
    { marker: 'capital', behaviour: { kind: 'text', text: 'Paris' } },
  );
  await dialog.getByRole('button', { name: 'Test now' }).press('Enter');
  await dialog.getByText('It wrote: “ready”').waitFor();
  await dialog.getByText('The model did not keep to the schema: “Paris”').waitFor();
  await dialog.getByText(/^It used [\d,]+ tokens, /).waitFor();
  await expect.poll(() => dialog.getByText('Failed').count()).toBe(2);
  await page.keyboard.press('Escape');
  const row = page.getByRole('row').filter({ hasText: 'writers/fixture/writer-small' });
  await row.getByText('No typed results').waitFor();
  await expectClean();
});

test('figures are entered a million tokens, and what a server states is only shown', async ({ visit, person }) => {
  const { page } = await visit(`${pathOf(person)}?q=unpriced`, { as: person });
  const open = async () => {
    await page.getByRole('button', { name: 'Actions for writers/fixture/unpriced', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Enter figures' }).click();
  };
  await open();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Context window').getAttribute('readonly')).not.toBeNull();
  await dialog.getByLabel(/^Input/).fill('2.5');
  await dialog.getByLabel(/^Output(?! limit)/).fill('lots');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/decimal string/).waitFor();
  await dialog.getByLabel(/^Output(?! limit)/).fill('10');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Fixture Unpriced', hasNotText: 'Long' });
  await row.getByText('$2.50 in, $10.00 out').waitFor();
  await row.getByText('entered by hand').waitFor();
});

test('the composer says whose server a model is on, and what it costs there', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
  await page.getByRole('button', { name: 'Write it yourself' }).click();
  await page.getByRole('combobox', { name: 'Model' }).fill('llama');
  const option = page.getByRole('option', { name: /llama3\.2:3b/ });
  await option.getByText('Your own server, Ollama').waitFor();
  await option.getByText('free').waitFor();
  await option.click();
  await page.getByText('Your own server, Ollama. This model costs nothing.').waitFor();
});
