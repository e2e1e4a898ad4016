import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, PROJECT } from '../support/frame.ts';
import { failing, forbidding, holding, photograph, refusingLater } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const ROUTINE_ID = 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c';
const ACTION_ID = 'act_01kx3k9y6wfd8r0v5m2c7t4q4c';
const SOURCES = 'Sources that competitors cite on their pricing pages';
const RESULTS = (['failed', 'changed', 'first'] as const).map((kind, nth) =>
  sample('Result', {
    runId: `run_01kx3k9y6wfd8r0v5m2c7t4q5${nth}`,
    kind,
    routineId: ROUTINE_ID,
    unread: true,
    routineName: kind === 'failed' ? SOURCES : 'Daily site check',
    state: kind === 'failed' ? 'failed' : 'succeeded',
    reason: kind === 'failed' ? 'check_failed' : null,
    excerpt: kind === 'failed' ? null : 'Two pages are gone.',
    errorMessage: kind === 'failed' ? 'Fewer than 3 distinct sources.' : null,
    finishedAt: ago(60 * nth + 9),
  }),
);

const MORNING = [
  ...FRAME,
  answer('get', '/v1/projects/{projectId}', {
    ...PROJECT,
    budget: { maxCostUsdPerMonth: '25.00', maxTokensPerDay: 2_000_000 },
  }),
  answer('get', '/v1/results', RESULTS),
  answer(
    'get',
    '/v1/results/unread',
    sample('UnreadResults', { worthReading: 3, worthReadingRoutines: 2, until: ago(9) }),
  ),
  answer('get', '/v1/routines', [
    sample('RoutineSummary', { id: ROUTINE_ID, name: 'Daily site check', state: 'active' }),
  ]),
  answer(
    'get',
    '/v1/attention',
    sample('Attention', {
      held: [
        {
          routineId: ROUTINE_ID,
          routineName: 'Broken links of the week',
          runId: RESULTS[0]!.runId,
          actionId: ACTION_ID,
          calls: 2,
          toolNames: ['comment', 'create_issue'],
          expiresAt: ago(-180),
        },
      ],
      failed: [
        {
          routineId: ROUTINE_ID,
          routineName: SOURCES,
          runId: RESULTS[0]!.runId,
          runs: 2,
          finishedAt: ago(9),
          reason: 'check_failed',
          errorMessage: 'Fewer than 3 distinct sources.',
        },
      ],
      questions: [
        {
          id: 'qst_01kx3k9y6wfd8r0v5m2c7t4q7j',
          routineId: ROUTINE_ID,
          routineName: 'Daily site check',
          lastRunId: RESULTS[0]!.runId,
          question: 'Are pages of the shop checked too?',
          choices: ['Yes', 'No'],
          default: null,
          expiresAt: ago(-600),
        },
      ],
      stopped: [
        {
          routineId: ROUTINE_ID,
          routineName: 'Prices of the summer sale',
          state: 'paused',
          reason: 'schedule_ended',
          updatedAt: ago(90),
        },
      ],
      budgets: [{ limit: 'maxTokensPerDay', name: 'Website', percent: 93, scope: 'project', scopeId: PROJECT.id }],
    }),
  ),
  answer('get', '/v1/schedules/occurrences', ({ query }) => ({
    truncated: false,
    occurrences: [20, 40].map((minutes) => ({
      routineId: ROUTINE_ID,
      routineName: 'Daily site check',
      scheduledFor: new Date(Date.parse(query.get('from')!) + minutes * 60_000).toISOString(),
      startsAt: new Date(Date.parse(query.get('from')!) + minutes * 60_000).toISOString(),
    })),
  })),
];

test('home in all its states', async ({ api, visit }) => {
  const read = /^\/v1\/(attention|runs|results|usage|sch)/;
  await photograph(visit, 'home', [
    {
      name: 'full',
      path: AT,
      before: () => api.serve(...MORNING),
      async act(page) {
        await page.getByText('Prices of the summer sale').waitFor();
        const needs = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
        await needs.first().getByText('2 calls to approve').waitFor();
        await page.getByText('The schedule has ended.').waitFor();
        await page.getByText('Are pages of the shop checked too?').waitFor();
        await page.getByRole('button', { name: 'Yes', exact: true }).waitFor();
        await page.getByText(SOURCES).first().waitFor();
      },
    },
    { name: 'loading', path: AT, before: holding(read), loading: true, holds: true },
    { name: 'failed', path: AT, before: failing(read), act: (page) => page.getByRole('alert').first().waitFor() },
    { name: 'forbidden', path: AT, before: forbidding(read), act: (page) => page.getByRole('alert').first().waitFor() },
    {
      name: 'empty',
      path: AT,
      before: () => api.serve(...FRAME),
      act: (page) => page.getByRole('link', { name: 'Make a routine' }).waitFor(),
    },
  ]);
});

test('a result that is marked as read goes at once, and comes back after a refusal', async ({ api, visit }) => {
  const results = RESULTS.slice(1).map((result, nth) => ({
    ...result,
    routineName: ['Feed watch', 'Price watch'][nth]!,
    routineId: `${ROUTINE_ID.slice(0, -1)}${nth}`,
    // The urgent one is listed among what needs its reader.
    urgency: nth === 0 ? ('high' as const) : ('normal' as const),
  }));
  api.serve(
    ...FRAME,
    answer('get', '/v1/results', results),
    answer('get', '/v1/results/unread', sample('UnreadResults', { worthReading: 2, worthReadingRoutines: 2 })),
  );
  const { page } = await visit(AT);
  for (const name of ['Feed watch', 'Price watch']) {
    const refuse = await refusingLater(page, '/v1/results/read', 'POST');
    const row = page.locator('[data-run]').filter({ hasText: name });
    await row.getByRole('button', { name: 'Mark as read' }).click();
    await row.waitFor({ state: 'detached' });
    refuse();
    await page.getByText('Your role does not allow this.').first().waitFor();
    await row.waitFor();
    await page.unrouteAll();
  }
});
