import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { sample } from '../support/sample.ts';
import { pressAll, startTranslator, type Translation } from '../support/translator.ts';

const test = pageTest();

const ROUTINE = { name: 'Weekly audit', state: 'active', schedule: '0 7 * * *', nextRunAt: ago(-90) } as const;
const RUN = {
  routineName: 'Weekly audit',
  state: 'succeeded',
  outcome: 'done',
  startedAt: ago(9),
  finishedAt: ago(8),
} as const;
const STEP = sample('Step', { kind: 'model', state: 'succeeded', text: 'Two pages are gone.', startedAt: ago(9) });
const { id: runId, routineId } = sample('RunDetail', RUN);

const FILLED = [
  ...FRAME,
  answer('get', '/v1/routines', [sample('RoutineSummary', ROUTINE)]),
  answer('get', '/v1/routines/{routineId}', sample('RoutineDetail', { ...ROUTINE, instructions: 'Look at it.' })),
  answer('get', '/v1/runs', [sample('RunSummary', RUN)]),
  answer('get', '/v1/runs/{runId}', sample('RunDetail', { ...RUN, result: '# Audit', steps: [STEP], prompt: 'Look.' })),
  answer('get', '/v1/results', [
    sample('Result', { routineName: 'Weekly audit', unread: true, excerpt: 'Two pages.' }),
  ]),
];

/** Pages whose texts change most while a person uses them. All other pages are tested at full size. */
const PATHS = [
  AT,
  `${AT}/routines`,
  `${AT}/routines/${routineId}`,
  `${AT}/routines/${routineId}/edit`,
  `${AT}/runs/${runId}`,
  '/_parts',
];

test.for<Translation>(['wrapped', 'replaced'])(
  'buttons work on pages, menus and dialogs whose texts a translator has %s',
  async (way, { api, visit }) => {
    api.serve(...FILLED);
    const watched = await visit('about:blank');
    await watched.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startTranslator(watched.page, way);
    // On each change, each of the two ways is tested on half of the pages.
    const paths = PATHS.filter((_, nth) => FULL_SIZE || (nth % 2 === 0) === (way === 'wrapped'));
    for (const [index, path] of paths.entries()) {
      const pressed = await pressAll(watched, path, index === 0);
      expect(pressed.length, path).toBeGreaterThan(0);
      expect(watched.complaints, `${path} after ${pressed.join(', ')}`).toEqual([]);
    }
    // The fake API has no answers to these buttons, so the pages show errors.
    api.faults.length = 0;
  },
);

test('a translated text that changes is shown once, in its new form', async ({ api, visit }) => {
  api.serve(...FRAME);
  const { page, settled } = await visit('about:blank');
  await startTranslator(page, 'replaced');
  await page.goto(`${AT}/settings?tab=facts`);
  await settled();
  for (const text of ['Three facts.', 'Four facts, no more.']) {
    await page.evaluate('translate()');
    await page.getByRole('textbox', { name: 'Facts' }).fill(text);
    await page.getByText(`${text.length} of 24,000 characters`, { exact: true }).waitFor();
  }
});
