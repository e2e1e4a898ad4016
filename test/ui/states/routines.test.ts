import { expect } from 'vitest';
import { answer, Page } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';
import { sample, type Changes } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

// Lists are newest first.
const IDS = Array.from('7654', (end) => `rtn_01kx3k9y6wfd8r0v5m2c7t4q4${end}`);
const [ACTIVE = '', DRAFT = '', DRIFTED = '', KEPT = ''] = IDS;
const LIST = `${AT}/routines`;

const ROUTINES = [
  sample('RoutineSummary', {
    id: ACTIVE,
    name: 'What competitors changed',
    state: 'active',
    schedule: '*/30 8-18 * * 1-5',
    scheduleInWords: 'Every 30 minutes from 08:00 to 18:30, Monday to Friday',
    nextRunAt: ago(-20),
    timezone: 'America/New_York',
    lastRunAt: ago(10),
  }),
  sample('RoutineSummary', { id: DRAFT, name: 'Newsletter ideas', state: 'draft', schedule: '0 9 1 * *' }),
  sample('RoutineSummary', {
    id: DRIFTED,
    name: 'Broken links in the documentation',
    managedBy: 'files',
    driftedAt: ago(30),
    state: 'paused',
    stateReason: 'schedule_ended',
    externalKey: 'broken-links',
  }),
  sample('RoutineSummary', {
    id: KEPT,
    name: 'Weekly site audit',
    managedBy: 'files',
    externalKey: 'weekly-site-audit',
  }),
];

const SERIES = sample('Series', {
  by: { list: '/items', key: '/id' },
  fields: ['price'],
  field: 'price',
  runs: [3, 2, 1].map((days, nth) => ({ runId: `run_01kx3k9y6wfd8r0v5m2c7t4q5${nth}`, at: ago(days * 1_440) })),
  items: [
    // This item never changes, so the chart opens on the next one.
    { key: 'cocoa', values: [5, 5, 5] },
    { key: 'tea', values: [3, null, 4] },
    { key: 'salt', values: [null, 2, 1.5] },
  ],
});

const RECENT = [
  sample('RoutineRecentRuns', {
    routineId: ACTIVE,
    runs: (['succeeded', 'failed', 'succeeded'] as const).map((state, nth) => ({
      id: `run_01kx3k9y6wfd8r0v5m2c7t4q5${nth}`,
      state,
      at: ago(30 * nth + 10),
      reason: null,
      outcome: state === 'succeeded' ? ('done' as const) : null,
    })),
  }),
];

test('the list of routines in all its states', async ({ api, visit }) => {
  const full = [...FRAME, answer('get', '/v1/routines', searched(ROUTINES)), answer('get', '/v1/runs/recent', RECENT)];
  await photograph(visit, 'routines', [
    {
      name: 'full',
      path: LIST,
      before: () => api.serve(...full),
      async act(page) {
        await page.getByText(/^Every 30 minutes from/).waitFor();
        // Routines that are kept in files are marked.
        await expect.poll(() => page.getByTitle(/^Kept in files\./).count()).toBe(2);
      },
    },
    {
      name: 'nothing-fits',
      path: `${LIST}?search=nothing`,
      act: (page) => page.getByText('No routine fits').waitFor(),
    },
    { name: 'loading', path: LIST, before: holding('/v1/routines'), loading: true },
    { name: 'failed', path: LIST, before: failing('/v1/routines'), act: (page) => page.getByRole('alert').waitFor() },
    { name: 'empty', path: LIST, before: () => api.serve(...FRAME) },
  ]);
});

/** Searches names like the API. */
function searched<Item extends { name: string }>(items: readonly Item[]) {
  return ({ query }: { query: URLSearchParams }) =>
    items.filter(({ name }) => name.toLowerCase().includes((query.get('q') ?? '').toLowerCase()));
}

const SKILLS = new Map([
  ['seo-audit', 'SEO audit'],
  ['price-watch', 'Price watch'],
]);
const DRAFTING = [
  answer('get', '/v1/skills/{skillId}', ({ of }) => sample('SkillDetail', { name: SKILLS.get(of['skillId']!)! })),
  answer(
    'post',
    '/v1/routines/draft',
    sample('RoutineDraft', {
      definition: {
        name: 'Prices on Mondays',
        instructions: 'Check our prices.',
        schedule: '0 7 * * 1',
        timezone: 'Europe/Berlin',
        skills: [...SKILLS.keys()],
      },
      assumptions: ['It runs at 07:00, as the sentence names no time.'],
      questions: ['Which pages list the prices?'],
      nextRuns: [ago(-90)],
    }),
  ),
];

test('the composer says what a test run waits for', async ({ api, visit }) => {
  const waits = { trigger: 'rehearsal', state: 'queued', waitingFor: 'worker', startedAt: null } as const;
  api.serve(...FRAME, routine(), ...TOOLS_THAT_WRITE, answer('get', '/v1/runs/{runId}', sample('RunDetail', waits)));
  const { page, expectClean } = await visit(`${LIST}/${ACTIVE}/edit`);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByRole('region', { name: 'Test run' }).getByText('Waiting: no worker takes new runs.').waitFor();
  await expectClean();
});

test('a change that another user has overtaken is compared with theirs, and then tried', async ({ api, visit }) => {
  const name = 'Weekly audit of prices';
  let isSaved = false;
  const sent: unknown[] = [];
  const proposed = sample('StartedProposal', { routineId: ACTIVE, state: 'open' });
  api.serve(
    ...FRAME,
    answer('get', '/v1/runs/{runId}', sample('RunDetail', { state: 'running' })),
    answer('get', '/v1/routines/{routineId}', (asked) => {
      const { make } = routine(isSaved ? { name, instructions: 'Look at {{site}} twice.' } : {});
      return make(asked) as Shape<'RoutineDetail'>;
    }),
    answer('post', '/v1/routines/{routineId}/proposals', ({ body }) => {
      sent.push(body);
      return proposed;
    }),
  );
  const { page } = await visit(`${LIST}/${ACTIVE}/edit`);
  const instructions = page.getByRole('textbox', { name: 'Instructions' });
  await instructions.fill('Look at {{site}} thrice.');
  const refusal = { code: 'precondition_failed', message: 'The routine has another version.' };
  await refusing(`/v1/routines/${ACTIVE}/proposals`, 412, refusal)(page);
  isSaved = true;
  await page.getByRole('button', { name: 'Save, test and keep active' }).click();
  const dialog = page.getByRole('dialog', { name: 'Another user has saved this routine' });
  await dialog.getByText('Look at {{site}} twice.').waitFor();
  await dialog.getByText(`Name: ${name}`).waitFor();
  await page.unrouteAll();
  await dialog.getByRole('button', { name: 'Test what is chosen' }).click();
  await expect.poll(() => sent).toEqual([{ patch: { instructions: 'Look at {{site}} thrice.' } }]);
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(name);
  expect(await instructions.inputValue()).toBe('Look at {{site}} thrice.');
});

/** Returns a list in pages of one item. */
function oneByOne<Item extends { id: string } | { routineId: string }>(items: readonly Item[]) {
  return ({ query }: { query: URLSearchParams }): Item[] | Page<Item[]> => {
    const idOf = (item: Item) => ('id' in item ? item.id : item.routineId);
    const at = query.has('cursor') ? items.findIndex((item) => idOf(item) === query.get('cursor')) + 1 : 0;
    const [item] = items.slice(at);
    return at + 1 < items.length ? new Page([item!], idOf(item!)) : [item!];
  };
}

test('a long list shows the last runs of every routine, also of those on later pages', async ({ api, visit }) => {
  const routines = IDS.map((id, nth) => sample('RoutineSummary', { id, name: `Routine ${nth}` }));
  const recent = IDS.map((routineId) => sample('RoutineRecentRuns', { routineId }));
  api.serve(...FRAME, answer('get', '/v1/routines', routines), answer('get', '/v1/runs/recent', oneByOne(recent)));
  const { page } = await visit(LIST);
  await expect.poll(() => page.getByText('Has not run yet').count()).toBe(IDS.length);
});

test('a search looks at all routines, also at those of pages that were not opened', async ({ api, visit }) => {
  api.serve(
    ...FRAME,
    answer('get', '/v1/routines', (asked) =>
      asked.query.has('q') ? searched(ROUTINES)(asked) : oneByOne(ROUTINES)(asked),
    ),
  );
  const { page } = await visit(LIST);
  await page.getByRole('link', { name: 'What competitors changed' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('weekly');
  await page.getByRole('link', { name: 'Weekly site audit' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('none');
  await page.getByText('No routine fits').waitFor();
});

/** Makes the answers for a routine and its newest version. */
function routine(changes: Changes<Shape<'RoutineDetail'>> = {}) {
  const instructions = 'Look at {{site}} and list what changed.';
  return answer(
    'get',
    '/v1/routines/{routineId}',
    sample('RoutineDetail', {
      id: ACTIVE,
      name: 'Weekly audit',
      state: 'active',
      instructions,
      variables: { site: 'example.com' },
      scheduleInWords: 'At 07:00, only on Monday',
      nextRunAt: ago(-90),
      nextRuns: [ago(-90), ago(-10170)],
      timezone: 'Europe/Berlin',
      skills: ['seo-audit'],
      activation: { ready: true },
      revision: 2,
      schedule: '0 7 * * *',
      ...changes,
    }),
  );
}

const FAILED = sample('RunSummary', {
  routineId: ACTIVE,
  routineName: 'Weekly audit',
  state: 'failed',
  reason: 'check_failed',
  failureClass: 'routine',
  errorMessage: 'Fewer than 3 distinct sources.',
  finishedAt: ago(5),
  startedAt: ago(6),
});

const NEEDS = (['social', 'content', 'social'] as const).map((need, nth) => ({
  code: 'skill_need_unmet' as const,
  skill: `skill-${nth}`,
  need,
  message: 'No tool seems to offer it.',
}));
const REHEARSED = { ...FAILED, id: `${FAILED.id.slice(0, -1)}9`, trigger: 'rehearsal' } as const;
const CANCELLED = { ...FAILED, id: `${FAILED.id.slice(0, -1)}8`, state: 'cancelled' } as const;

test('a routine in all its states', async ({ api, visit }) => {
  const path = `${LIST}/${ACTIVE}`;
  await photograph(visit, 'routine', [
    {
      name: 'active',
      path,
      before: () => api.serve(...FRAME, routine({ warnings: NEEDS, activation: { proofRunId: FAILED.id } })),
      // The time is in the reader's zone, like all times without a stated zone.
      act: (page) =>
        page
          .getByText(/^Next run /)
          .locator('time[title*="Europe/Berlin"]')
          .waitFor()
          // A run without such tools has succeeded.
          .then(async () => expect(await page.getByText('The skills work better').count()).toBe(0)),
    },
    {
      name: 'draft',
      path,
      before: () =>
        api.serve(
          ...FRAME,
          routine({
            state: 'draft',
            activation: { ready: false, reason: 'successful_run_required' },
            warnings: NEEDS,
          }),
          // Neither a rehearsal nor a cancelled run is a result.
          answer('get', '/v1/routines/{routineId}/runs', [REHEARSED, CANCELLED, FAILED]),
        ),
      async act(page) {
        await page.getByRole('region', { name: 'Last result' }).getByText('Fewer than 3 distinct sources.').waitFor();
        await page.getByText('a tool for social accounts and documents or a CMS.').waitFor();
      },
    },
    {
      name: 'runs',
      path: `${path}?tab=runs`,
      act: (page) => page.getByText('Fewer than 3 distinct sources.').first().waitFor(),
    },
    { name: 'tools', path: `${path}?tab=tools` },
    {
      name: 'data',
      holds: true,
      path: `${path}?tab=data`,
      before: () =>
        api.serve(...FRAME, routine({ resultSchema: {} }), answer('get', '/v1/routines/{routineId}/series', SERIES)),
      async act(page) {
        await page.getByRole('img', { name: /^price of tea over 3 runs/ }).waitFor();
        await page.getByRole('button', { name: 'Show salt in the chart' }).click();
        await page.getByRole('img', { name: /^price of salt over 3 runs/ }).waitFor();
        const row = page.getByRole('row', { name: /^salt/ });
        expect(await row.getByRole('cell').allInnerTexts()).toMatchObject({ 1: /1\.5$/, 2: /2$/, 3: /1\.5$/, 4: /2$/ });
        const saved = page.waitForEvent('download');
        await page.getByRole('button', { name: 'CSV' }).click();
        expect((await saved).suggestedFilename()).toMatch(/^weekly-audit-price-.*\.csv$/);
      },
    },
    {
      name: 'data-none',
      path: `${path}?tab=data`,
      before: () => api.serve(...FRAME, routine({ resultSchema: {} })),
      act: (page) => page.getByText('No numbers yet').waitFor(),
    },
    {
      name: 'data-failed',
      path: `${path}?tab=data`,
      before: failing(/\/series$/),
      act: (page) => page.getByText('The data could not be read').waitFor(),
    },
    {
      name: 'failed',
      path,
      before: failing(/^\/v1\/routines\/rtn_/),
      act: (page) => page.getByRole('alert').waitFor(),
    },
  ]);
});

const WARNING = /^Kept in files as .*the next apply overwrites them/;

test('a routine that files keep says so, and warns before an edit', async ({ api, visit }) => {
  const path = `${LIST}/${ACTIVE}`;
  const kept = { managedBy: 'files', externalKey: 'weekly-site-audit' } as const;
  await photograph(visit, 'managed', [
    {
      name: 'routine',
      path,
      before: () => api.serve(...FRAME, routine(kept)),
      async act(page) {
        await page.getByTitle(/^Kept in files\./).waitFor();
        await page.getByText('weekly-site-audit', { exact: true }).waitFor();
        expect(await page.getByText(WARNING).count()).toBe(0);
      },
    },
    { name: 'composer', path: `${path}/edit`, act: (page) => page.getByText(WARNING).waitFor() },
    {
      name: 'drifted',
      holds: true,
      path,
      before: () => api.serve(...FRAME, routine({ ...kept, driftedAt: ago(30) })),
      act: (page) => page.getByText('Differs from files', { exact: true }).waitFor(),
    },
    {
      name: 'free',
      path,
      before: () => api.serve(...FRAME, routine({ externalKey: 'by-hand' })),
      async act(page) {
        await page.getByText('by-hand', { exact: true }).waitFor();
        expect(await page.getByTitle(/^Kept in files\./).count()).toBe(0);
      },
    },
  ]);
});

test('its versions in all their states', async ({ api, visit }) => {
  const path = `${LIST}/${ACTIVE}/versions`;
  const read = /^\/v1\/.*\/versions$/;
  const authors = [
    { id: 'key_01kx3k9y6wfd8r0v5m2c7t4q50', kind: 'key', name: 'test' },
    { id: 'usr_1', kind: 'person', name: 'Test Person' },
  ] as const;
  const versions = authors.map((createdBy, nth) =>
    sample('RoutineVersionSummary', { revision: 2 - nth, createdBy, changed: nth === 0 ? ['instructions'] : [] }),
  );
  api.serve(
    ...FRAME,
    routine(),
    answer('get', '/v1/routines/{routineId}/versions', versions),
    answer('get', '/v1/routines/{routineId}/versions/{revision}', ({ of }) =>
      sample('RoutineVersion', {
        revision: Number(of['revision']),
        instructions: `Write ${of['revision']} lines.`,
        routineId: ACTIVE,
        createdBy: authors[2 - Number(of['revision'])]!,
      }),
    ),
  );
  await photograph(visit, 'versions', [
    {
      name: 'full',
      path,
      async act(page) {
        await page.getByText('by the API key test').waitFor();
        await page.getByText('by Test Person').first().waitFor();
      },
    },
    { name: 'loading', path, before: holding(read), loading: true },
    { name: 'failed', path, before: failing(read), act: (page) => page.getByRole('alert').waitFor() },
  ]);
});

const STARTED: unknown[] = [];

/** A routine with a tool that states no hints, and a rehearsal that has ended. */
const TOOLS_THAT_WRITE = [
  answer('get', '/v1/routines/{routineId}/tools', [sample('ToolPolicy', { state: 'automatic', annotations: null })]),
  answer('post', '/v1/routines/{routineId}/run', ({ body }) => {
    STARTED.push(body);
    return sample('Run', { trigger: 'rehearsal' });
  }),
  answer('get', '/v1/runs/{runId}', sample('RunDetail', { trigger: 'rehearsal', state: 'succeeded', result: 'Done.' })),
];

test('the composer in all its states', async ({ api, visit }) => {
  const path = `${LIST}/${ACTIVE}/edit`;
  const read = /^\/v1\/routines\/rtn_/;
  const model = sample('ModelOption', { provider: 'gateway', modelId: 'fixture/writer-small', name: 'Writer Small' });
  const models = [
    answer('get', '/v1/models', [model]),
    answer('get', '/v1/schedules/preview', sample('SchedulePreview', { inWords: 'At 07:00', times: [ago(-90)] })),
  ];
  await photograph(visit, 'composer', [
    { name: 'new', path: `${LIST}/new`, before: () => api.serve(...FRAME, ...models) },
    {
      name: 'drafted',
      path: `${LIST}/new`,
      before: () => api.serve(...FRAME, ...models, ...DRAFTING),
      async act(page) {
        await page
          .getByRole('textbox', { name: 'What should the routine do, and when?' })
          .fill('Check our prices on Mondays');
        await page.getByRole('button', { name: 'Draft it' }).click();
        const chips = page.getByRole('list', { name: 'What was understood' });
        await chips.getByRole('button', { name: 'Change skills: SEO audit, Price watch' }).waitFor();
        await chips.getByRole('button', { name: 'Change when: At 07:00, Europe/Berlin' }).waitFor();
      },
    },
    {
      name: 'edit',
      path,
      before: () =>
        api.serve(
          ...FRAME,
          ...models,
          routine({
            schedule: '30 7 * * 1,4',
            checks: [{ type: 'distinct_sources', atLeast: 3 }],
            gate: sample('Gate', { url: 'https://example.com/feed.json' }),
            model: { provider: 'gateway', connectionId: null, modelId: model.modelId },
          }),
        ),
    },
    {
      name: 'settings',
      path,
      async act(page) {
        for (const title of ['Results', 'Checked before it runs', 'Limits', 'When', 'Who is told', 'Asking people']) {
          await page.getByRole('button', { name: new RegExp(`^${title}`) }).click();
        }
        await page.getByRole('button', { name: 'Thursday', exact: true, pressed: true }).waitFor();
        for (const part of ['One run', 'Checks', 'Runs that are late or overlap', 'Who gets the results']) {
          await page.getByRole('group', { name: part, exact: true }).waitFor();
        }
      },
    },
    { name: 'loading', path, before: holding(read), loading: true },
    { name: 'failed', path, before: failing(read), act: (page) => page.getByRole('alert').waitFor() },
    { name: 'no-models', path, before: failing('/v1/models') },
    {
      name: 'rehearses',
      holds: true,
      path,
      before: () => api.serve(...FRAME, ...models, routine(), ...TOOLS_THAT_WRITE),
      async act(page) {
        const box = page.getByRole('checkbox', { name: 'Rehearse' });
        await expect.poll(() => box.isChecked()).toBe(true);
        await page.getByRole('button', { name: 'Test', exact: true }).click();
        await expect.poll(() => STARTED.at(-1)).toEqual({ mode: 'rehearse' });
        await page.getByText('Rehearsal: the run did not try to write anything.').waitFor();
        await box.click();
        await page.getByRole('button', { name: 'Test again' }).click();
        await expect.poll(() => STARTED.at(-1)).toEqual({ mode: 'run' });
      },
    },
  ]);
});
