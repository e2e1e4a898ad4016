import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph } from '../support/photograph.ts';
import { sample, type Changes } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

const BEFORE = 'run_01kx3k9y6wfd8r0v5m2c7t4q5a';
const AFTER = 'run_01kx3k9y6wfd8r0v5m2c7t4q5b';
const PATH = `${AT}/runs/${AFTER}/compare?against=${BEFORE}`;

const OLD = `## Prices of competitors

Two of five shops have **changed** their price since Monday.

- Bookbright: see [/pricing](https://bookbright.example/pricing)
- Papermoon: no change

| Shop | Plan | Price |
|---|---|---|
| Bookbright | Team | 12 USD |
| Inkwell | Solo | 5 USD |
| Papermoon | Team | 9 USD |
| Quill | Solo | 4 USD |
| Margin | Team | 11 USD |
| Folio | Team | 10 USD |
| Stacks | Solo | 6 USD |

Next: look at the discount of Papermoon.`;

const NEW = `## Prices of competitors

Three of five shops have **changed** their price since Monday.

- Bookbright: see [/pricing](https://bookbright.example/pricing)
- Papermoon: 1 USD less

| Shop | Plan | Price | Since |
|---|---|---|---|
| Bookbright | Team | 12 USD | May |
| Papermoon | Team | 8 USD | today |
| Quill | Solo | 4 USD | May |
| Margin | Team | 11 USD | May |
| Folio | Team | 10 USD | May |
| Stacks | Solo | 6 USD | May |
| Verso | Team | 7 USD | today |

Next: look at the discount of Papermoon.`;

function two(before: Changes<Shape<'RunDetail'>>, after: Changes<Shape<'RunDetail'>>) {
  const run = (id: string, minutes: number, changes: Changes<Shape<'RunDetail'>>) =>
    sample('RunDetail', {
      id,
      routineName: 'Prices of competitors',
      state: 'succeeded',
      outcome: 'done',
      data: null,
      startedAt: ago(minutes),
      createdAt: ago(minutes),
      finishedAt: ago(minutes - 1),
      prompt: 'Look at the prices.',
      ...changes,
    });
  const both = [run(BEFORE, 60 * 24, before), run(AFTER, 10, after)];
  return [
    ...FRAME,
    answer('get', '/v1/runs/{runId}', ({ of }) => both.find(({ id }) => id === of['runId'])!),
    answer('get', '/v1/routines/{routineId}/runs', both.map(summaryOf)),
  ];
}

function summaryOf({ id, routineId, state, outcome, startedAt, createdAt, finishedAt }: Shape<'RunDetail'>) {
  return sample('RunSummary', { id, routineId, state, outcome, startedAt, createdAt, finishedAt });
}

const REGION = { name: 'Differences of the result' };

test('the comparison of two results in all its states', async ({ api, visit }) => {
  const read = /^\/v1\/runs\/run_/;
  const says = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
  await photograph(visit, 'compare', [
    {
      name: 'full',
      path: PATH,
      before: () => api.serve(...two({ result: OLD }, { result: NEW })),
      async act(page) {
        const shown = page.getByRole('region', REGION);
        await shown.getByRole('columnheader', { name: 'Since' }).waitFor();
        expect(await shown.innerText()).not.toMatch(/[|*]|---/);
        expect(
          await shown
            .getByRole('row', { name: /^Changed/ })
            .first()
            .innerText(),
        ).toMatch(/Bookbright/);
        expect(await shown.getByRole('row', { name: /^Added/ }).innerText()).toMatch(/Verso\s+Team\s+7 USD/);
        expect(await shown.getByRole('row', { name: /^Removed/ }).innerText()).toMatch(/Inkwell/);
        const papermoon = shown.getByRole('row', { name: /^Changed Papermoon/ });
        expect(await papermoon.getByRole('deletion').allInnerTexts()).toEqual(['9']);
        expect(await papermoon.getByRole('insertion').allInnerTexts()).toEqual(['8', 'today']);
      },
    },
    {
      name: 'rows',
      path: PATH,
      before: () => api.serve(...two({ result: OLD }, { result: OLD.replace('9 USD', '8 USD') })),
      async act(page) {
        const shown = page.getByRole('region', REGION);
        await shown.getByRole('button', { name: /^… 2 rows that both have/ }).click();
        await shown.getByRole('cell', { name: 'Stacks' }).waitFor();
      },
    },
    {
      name: 'formatting',
      path: PATH,
      before: () => api.serve(...two({ result: OLD }, { result: OLD.replace('**changed**', 'changed') })),
      act: says('Both texts say the same; only formatting or links differ.'),
    },
    {
      name: 'same',
      path: PATH,
      before: () => api.serve(...two({ result: OLD }, { result: OLD })),
      act: says('Both runs have the same text.'),
    },
    {
      name: 'none',
      path: `${AT}/runs/${AFTER}/compare`,
      act: says('There is no other result to compare with'),
    },
    { name: 'loading', path: PATH, before: holding(read), loading: true },
    { name: 'failed', path: PATH, before: failing(read), act: says('The two runs could not be read') },
  ]);
});
