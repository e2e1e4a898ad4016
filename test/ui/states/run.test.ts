import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, PROJECT } from '../support/frame.ts';
import { failing, forbidding, holding, photograph, refusing } from '../support/photograph.ts';
import { sample, type Changes } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

const [ID = '', FIRST = ''] = Array.from('df', (end) => `run_01kx3k9y6wfd8r0v5m2c7t4q5${end}`);
const PATH = `${AT}/runs/${ID}`;
const API = `/v1/runs/${ID}`;
const MISSING = { code: 'not_found', message: 'There is no such run.' };

const REPORT = `## What changed on example.com

The title of **/pricing** is new, and two pages are gone:

1. \`/blog/launch\` leads to a 404
2. \`/team\` redirects to \`/about\`

| Page | LCP | Change |
|---|---|---|
| / | 1.8 s | −0.2 s |
| /pricing | 3.1 s | +0.9 s |

Next: look at the hero image of \`/pricing\`.`;

type Run = Changes<Shape<'RunDetail'>>;

const SUCCEEDED = {
  id: ID,
  routineName: 'Weekly site audit',
  state: 'succeeded',
  outcome: 'done',
  result: REPORT,
  stepCount: 1,
  createdAt: ago(9),
  startedAt: ago(9),
  finishedAt: ago(8),
  queuedSeconds: 1,
  prompt: 'Audit example.com.',
  usage: {
    totalTokens: 2345,
    inputTokens: 2_000,
    outputTokens: 345,
    costUsd: '0.0123',
  },
} as const satisfies Run;

function tool(index: number, name: string, changes: Changes<Shape<'ToolCall'>>, step: Changes<Shape<'Step'>> = {}) {
  return sample('Step', {
    index,
    kind: 'tool',
    state: 'succeeded',
    startedAt: ago(9),
    finishedAt: ago(9),
    ...step,
    tool: sample('ToolCall', {
      name,
      toolName: name,
      arguments: '{"query":"site:example.com"}',
      ...changes,
    }),
  });
}

function model(index: number, changes: Changes<Shape<'Step'>> = {}) {
  return sample('Step', {
    index,
    kind: 'model',
    state: 'succeeded',
    modelId: 'fixture/writer-small',
    startedAt: ago(9),
    finishedAt: ago(9),
    finishReason: 'stop',
    attempt: 1,
    ...changes,
  });
}

/** Accepts that a shown result is marked as read. */
const READ = answer('post', '/v1/results/read', sample('UnreadResults', {}));

/** Makes the answers for a run. */
function run(changes: Run) {
  return [...FRAME, READ, answer('get', '/v1/runs/{runId}', sample('RunDetail', { ...SUCCEEDED, ...changes }))];
}

const PARTIAL: Run = {
  outcome: 'partial',
  outcomeSummary: 'The blog could not be read; everything else is as last week.',
  checks: [
    {
      type: 'result_not_empty',
      passed: true,
      detail: 'It has 412 characters.',
    },
  ],
  steps: [
    model(0, { finishReason: 'tool-calls' }),
    tool(1, 'lookup', {
      result: 'Two pages.',
      resultLength: 10,
      argumentsLength: 27,
    }),
    tool(
      2,
      'delete_everything',
      { isError: true },
      {
        state: 'failed',
        errorMessage: 'There is no such tool.',
      },
    ),
    model(3, { text: REPORT }),
  ],
  webhookDeliveries: [
    sample('WebhookDelivery', {
      state: 'pending',
      eventType: 'run.succeeded',
      nextAttemptAt: ago(-5),
      createdAt: ago(8),
      attempts: [
        {
          index: 1,
          status: 500,
          error: null,
          durationMs: 12,
          startedAt: ago(8),
          responseExcerpt: 'The queue is full.',
        },
      ],
    }),
  ],
};

const ACTION = 'act_01kx3k9y6wfd8r0v5m2c7t4q5';
const HOLDING: Run = {
  steps: [
    tool(0, 'create_issue', { action: { id: `${ACTION}e`, name: 'action_1' }, result: 'Recorded for approval.' }),
    tool(1, 'comment', { rule: { id: 'tru_01kx3k9y6wfd8r0v5m2c7t4q9j', words: 'Calls whose issue is 7' } }),
    model(2, { text: REPORT }),
  ],
};
const HELD = [
  sample('Action', {
    id: `${ACTION}f`,
    state: 'closed',
    reason: 'connection_changed',
    toolName: 'create_issue',
    arguments: { title: 'Slow page' },
  }),
  sample('Action', {
    id: `${ACTION}e`,
    state: 'done',
    toolName: 'create_issue',
    arguments: { title: 'Broken link', priority: 2 },
    result: 'number 7',
  }),
];

function says(...texts: (string | RegExp)[]) {
  return async (page: Page): Promise<void> => {
    for (const text of texts) await page.getByText(text).first().waitFor();
  };
}

function project(sharedLinksEnabled: boolean) {
  return answer('get', '/v1/projects/{projectId}', { ...PROJECT, sharedLinksEnabled });
}

const links = answer('get', '/v1/runs/{runId}/links', [
  sample('SharedLink', { runId: ID, views: 3, lastSeenAt: ago(5), createdAt: ago(90), expiresAt: ago(-9_000) }),
]);
const created = answer(
  'post',
  '/v1/runs/{runId}/links',
  sample('CreatedSharedLink', { runId: ID, url: 'https://app.example.com/shared#token', expiresAt: ago(-9_000) }),
);

test('a run in all its states', async ({ api, visit }) => {
  const at = { path: PATH };
  await photograph(visit, 'run', [
    { ...at, name: 'succeeded', before: () => api.serve(...run({ steps: [model(0, { text: REPORT })] })) },
    {
      ...at,
      name: 'opened',
      before: () => api.serve(...run(PARTIAL)),
      act: async (page) => {
        for (const name of [/^lookup/, /^delete_everything/, /^Asked for tools/, /^Prompt/, /^Status 500/]) {
          await page.getByRole('button', { name }).first().click();
        }
        await page.getByText('The queue is full.').waitFor();
        await page.getByText('There is no such tool.').first().waitFor();
      },
    },
    {
      ...at,
      name: 'held',
      holds: true,
      before: () => api.serve(...run(HOLDING), answer('get', '/v1/actions', HELD)),
      async act(page) {
        const held = page.getByRole('region', { name: 'Held for approval' });
        await held.getByText('Broken link · 2 · It answered: number 7').waitFor();
        await held.getByText('The connection has another account or address now.').waitFor();
        await page.getByRole('button', { name: /^create_issue/ }).click();
        await page.getByText('This call was not made.').waitFor();
        await page.getByRole('button', { name: /^comment/ }).click();
        await page.getByText('A standing rule let this call through.').waitFor();
      },
    },
    {
      ...at,
      name: 'running',
      holds: true,
      loading: true,
      before: () => api.serve(...run({ state: 'running', result: null, outcome: null, finishedAt: null })),
      act: (page) => page.getByText('Live', { exact: true }).waitFor(),
    },
    {
      ...at,
      name: 'queued',
      holds: true,
      loading: true,
      before: () =>
        api.serve(
          ...run({
            state: 'queued',
            result: null,
            outcome: null,
            finishedAt: null,
            startedAt: null,
            queuedSeconds: null,
            runAt: ago(-90),
            waitingFor: 'run_at',
          }),
        ),
      act: async (page) => {
        await page.getByText('Waiting: the run was requested for a later time.').waitFor();
        // The run has not started, so the page does not say how long it waited.
        expect(await page.getByText('Waited', { exact: true }).count()).toBe(0);
      },
    },
    {
      ...at,
      name: 'pinned',
      before: () => api.serve(...run({ pinned: true, workflowUrl: 'https://temporal.example.com/x' })),
    },
    {
      ...at,
      name: 'share',
      holds: true,
      before: () => api.serve(...run({}), project(true), links, created),
      async act(page) {
        await page.getByRole('button', { name: 'Share' }).click();
        const dialog = page.getByRole('dialog', { name: 'Share this result' });
        await dialog.getByText('Read 3 times').waitFor();
        await dialog.getByRole('button', { name: 'Make a link' }).click();
        await dialog.getByText('https://app.example.com/shared#token').waitFor();
      },
    },
    {
      ...at,
      name: 'share-off',
      before: () => api.serve(...run({}), project(false)),
      async act(page) {
        await page.getByRole('button', { name: 'Share' }).click();
        await page.getByText('This project shares no results.').waitFor();
      },
    },
    { ...at, name: 'loading', before: holding(API), loading: true, holds: true },
    { ...at, name: 'failed', before: failing(API), act: (page) => page.getByRole('alert').waitFor() },
    { ...at, name: 'forbidden', before: forbidding(API), act: (page) => page.getByRole('alert').waitFor() },
    { ...at, name: 'missing', before: refusing(API, 404, MISSING) },
  ]);
});

test('a question of a run is answered on its page, and a rehearsal lists what it would have done', async ({
  api,
  visit,
}) => {
  const asks = [model(0), tool(1, 'ask', { connectionId: null }), model(2, { text: REPORT })];
  const question = sample('AskedQuestion', {
    runId: ID,
    lastRunId: ID,
    question: 'Weekly\u202E or <b>daily</b>?',
    choices: ['Weekly', '<img src=x onerror=alert(1)>'],
    default: 'Weekly',
    state: 'open',
    expiresAt: ago(-600),
  });
  const given: unknown[] = [];
  const answered = answer('post', '/v1/questions/{questionId}/answer', ({ body }) => {
    given.push(body);
    return { ...question, state: 'answered', answer: 'Monthly' };
  });
  const staged = [
    { stepIndex: 1, name: 'send_message', connectionName: 'Mail', arguments: '{"to":"all@example.com"}' },
    { stepIndex: 2, name: 'delete_page', connectionName: 'Site', arguments: '{}' },
  ];
  await photograph(visit, 'run', [
    {
      path: PATH,
      name: 'asks',
      before: () => api.serve(...run({ steps: asks }), answer('get', '/v1/questions', [question]), answered),
      act: async (page) => {
        await says('WeeklyU+202E or <b>daily</b>?', 'Until then the default holds: Weekly')(page);
        await page.getByRole('button', { name: '<img src=x onerror=alert(1)>' }).waitFor();
        await page.getByRole('textbox', { name: 'Or another answer' }).fill('Monthly');
        await page.getByRole('button', { name: 'Answer', exact: true }).click();
        await expect.poll(() => given).toEqual([{ answer: 'Monthly' }]);
      },
    },
    {
      path: PATH,
      name: 'rehearsal',
      before: () => api.serve(...run({ trigger: 'rehearsal', steps: asks, wouldHaveDone: staged })),
      act: async (page) => {
        await says(/^Rehearsal: only tools that read were called/, 'Would have done', 'delete_page')(page);
        await page.getByText('all@example.com').waitFor();
        expect(await page.getByText('The run asks you').count()).toBe(0);
      },
    },
  ]);
});

/** Makes data by a schema of items with a price. */
function priced(items: Readonly<Record<string, number>>) {
  return { items: Object.entries(items).map(([id, price]) => ({ id, price })) };
}

const SCHEMA = {
  type: 'object',
  properties: {
    items: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'string' }, price: { type: 'number' } } },
    },
  },
};
const BY = { list: '/items', key: '/id' };

function dataRun(changes: Run) {
  return [
    ...run(changes),
    answer(
      'get',
      '/v1/routines/{routineId}/versions/{revision}',
      sample('RoutineVersion', { resultSchema: SCHEMA, resultKey: BY }),
    ),
  ];
}

test('what a run brought, what changed in it, and who was not told of it', async ({ api, visit }) => {
  const changed: Run = {
    data: priced({
      tea: 4,
      sugar: 2,
      rice: 2,
    }),
    result: 'Tea is dearer than ever.',
    changes: {
      against: FIRST,
      by: BY,
      counts: {
        added: 1,
        changed: 1,
        removed: 1,
      },
      truncated: false,
      unchangedRuns: 0,
      added: [
        {
          id: 'rice',
          price: 2,
        },
      ],
      changed: [
        {
          key: 'tea',
          before: {
            id: 'tea',
            price: 3,
          },
          after: {
            id: 'tea',
            price: 4,
          },
        },
      ],
      removed: [
        {
          id: 'salt',
          price: 1,
        },
      ],
    },
  };
  const none = { added: 0, changed: 0, removed: 0 };
  const nothing = { added: [], changed: [], removed: [], truncated: false };
  const all = priced(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`item-${n}`, n])));
  const many: Run = {
    data: all,
    changes: {
      against: FIRST,
      by: BY,
      counts: {
        ...none,
        added: 300,
      },
      truncated: true,
      unchangedRuns: 0,
      added: all.items.slice(0, 50),
      changed: [],
      removed: [],
    },
  };
  const whole = answer(
    'get',
    '/v1/runs/{runId}/diff',
    sample('RunDiff', { runId: ID, against: FIRST, by: BY, added: all.items, counts: { ...none, added: 300 } }),
  );
  const mark = (page: Page) => page.getByRole('button', { name: 'Mark all' }).click();
  await photograph(visit, 'run', [
    {
      path: PATH,
      name: 'first-data',
      before: () =>
        api.serve(
          ...dataRun({
            data: priced({ tea: 3, salt: 1, sugar: 2 }),
            changes: { against: null, by: BY, counts: none, unchangedRuns: 0, ...nothing },
          }),
        ),
      act: async (page) => {
        await page.getByText('The first result with data').waitFor();
        // All items are new, so no row is marked as new.
        await expect.poll(() => page.getByRole('cell', { name: 'sugar', exact: true }).count()).toBe(1);
        expect(await page.getByText('+ Added').count()).toBe(0);
      },
    },
    {
      path: PATH,
      name: 'changed-data',
      before: () => api.serve(...dataRun(changed)),
      act: async (page) => {
        const row = (mark: string) => page.getByRole('row').filter({ hasText: mark });
        await row('~ Changed').filter({ hasText: 'was 3' }).waitFor();
        expect(await row('+ Added').innerText()).toContain('rice');
        expect(await row('− Removed').innerText()).toContain('salt');
        await page.getByText('Tea is dearer than ever.', { exact: true }).waitFor();
        const run = page.getByRole('link', { name: 'the last delivered run' });
        expect(await run.getAttribute('href')).toContain(FIRST);
      },
    },
    {
      path: PATH,
      name: 'withheld',
      holds: true,
      before: () =>
        api.serve(
          ...dataRun({
            data: priced({ tea: 4 }),
            withheld: 'no_change',
            changes: {
              against: FIRST,
              by: BY,
              counts: none,
              unchangedRuns: 2,
              ...nothing,
            },
          }),
        ),
      act: says(/Nothing differs from .*, for 2 runs in a row/, 'this run found none'),
    },
    {
      path: PATH,
      name: 'many-changes',
      before: () => api.serve(...dataRun(many), whole),
      act: async (page) => {
        await mark(page);
        await page.getByText('Only the first changes').waitFor({ state: 'detached' });
        await page.getByRole('searchbox', { name: 'Filter Items' }).fill('item-299');
        await expect.poll(() => page.getByRole('row').filter({ hasText: '+ Added' }).count()).toBe(1);
      },
    },
    {
      path: PATH,
      name: 'many-changes-failed',
      before: failing(`${API}/diff`),
      act: async (page) => {
        await mark(page);
        await page.getByText('The service is not available.').waitFor();
      },
    },
  ]);
});

test('the page shows the value that was checked before a run, and why the model was asked or not', async ({
  api,
  visit,
}) => {
  const gate = (changes: Changes<NonNullable<Shape<'GateVerdict'>>>, state: Run = {}) => {
    const asked = { sent: true, status: 200, tool: null, url: 'https://example.com/feed.json' };
    const seen = {
      at: ago(9),
      asked,
      changed: false,
      error: null,
      failed: false,
      valueLength: 5,
      valuePreview: '["a"]',
    };
    return () => api.serve(...run({ gate: { ...seen, reason: 'unchanged', ...changes }, ...state }));
  };
  await photograph(visit, 'run', [
    {
      path: PATH,
      name: 'gate-by-hand',
      before: gate({ reason: 'manual', changed: null }),
      act: says(/asked in any case/),
    },
    {
      path: PATH,
      name: 'gate-quiet',
      holds: true,
      before: gate({}, { outcome: 'nothing_to_report', result: null, stepCount: 0 }),
      act: says('The value had not changed'),
    },
    {
      path: PATH,
      name: 'gate-woken',
      before: gate({ reason: 'changed', changed: true, valueLength: 900, valuePreview: '["a","item 0"' }),
      act: says(/The beginning of \d+ characters/),
    },
    {
      path: PATH,
      name: 'gate-blind',
      before: gate({ reason: 'status', changed: null, failed: true, error: 'It responded with 500.' }),
      act: says(/so the model was asked to be safe/),
    },
  ]);
});

test('a reader who changes the verdict of another does not take over its note', async ({ api, visit }) => {
  const verdict = {
    useful: false,
    note: 'Two prices are wrong.',
    by: { id: 'usr_2', kind: 'person', name: 'Bob' },
    at: ago(3),
  } as const;
  const put: unknown[] = [];
  const kept = answer('put', '/v1/runs/{runId}/verdict', ({ body }) => {
    put.push(body);
    return sample('Run', { id: ID, verdict });
  });
  api.serve(...run({ verdict }), kept);
  const { page } = await visit(PATH);
  const opinion = page.getByRole('region', { name: 'Was it useful?' });
  const note = opinion.getByRole('textbox', { name: 'Because' });
  // The same verdict again sends nothing, and opens the note.
  await opinion.getByRole('button', { name: 'Not useful' }).click();
  await expect.poll(() => note.inputValue()).toBe('Two prices are wrong.');
  expect(put).toEqual([]);
  await opinion.getByRole('button', { name: 'Useful', exact: true }).click();
  await expect.poll(() => put).toEqual([{ useful: true, note: null }]);
  expect(await note.inputValue()).toBe('');
});

test('the words of a model show characters that no one sees by name', async ({ api, visit }) => {
  const said = { outcomeSummary: 'Paid \u202Ediap ton\u202C.', urgency: 'high' } as const;
  const step = model(0, { text: '**Pay**\u2066 now' });
  api.serve(...run({ ...said, steps: [step] }));
  const { page } = await visit(PATH);
  await page.getByRole('status').getByText('Paid U+202Ediap tonU+202C.').waitFor();
  await page.getByText('The model calls this urgent.').waitFor();
  await page.getByRole('button', { name: /^PayU\+2066 now/ }).waitFor();
});

test('a failed run compared with the last good one, its mails, a cancelled run, and a run of a backfill', async ({
  api,
  visit,
}) => {
  const mail = (kind: 'failed' | 'success_ping', to: string | null) =>
    sample('RunNotification', { kind, to, state: 'sent', at: ago(8), attempts: 1 });
  const before = sample('RunDetail', { ...SUCCEEDED, id: FIRST, variables: { topic: 'tides' } });
  const failed = sample('RunDetail', {
    ...SUCCEEDED,
    state: 'failed',
    reason: 'check_failed',
    failureClass: 'routine',
    outcome: null,
    lastGoodRunId: FIRST,
    variables: { topic: 'the moon' },
    checks: [
      {
        type: 'distinct_sources',
        passed: false,
        detail: 'It has 1 of 2.',
      },
    ],
    notifications: [mail('failed', 'ada@example.com')],
  });
  await photograph(visit, 'run', [
    {
      path: PATH,
      name: 'check-failed',
      before: () =>
        api.serve(
          ...FRAME,
          READ,
          answer('get', '/v1/runs/{runId}', ({ of }) => (of['runId'] === FIRST ? before : failed)),
        ),
      act: async (page) => {
        const aside = page.getByRole('complementary', { name: 'About this run' });
        await aside.getByText('Distinct sources, failed').waitFor();
        const against = aside.getByRole('region', { name: 'Compared with the last good run' });
        await against.getByText('topic: the moon').waitFor();
        expect(await against.getByRole('link').getAttribute('href')).toContain(FIRST);
        await page.getByText('Mail that the run failed').waitFor();
      },
    },
    {
      path: PATH,
      name: 'repaired',
      before: () => api.serve(...run({ notifications: [mail('success_ping', null)] })),
      act: says('Ping to the monitor'),
    },
    {
      path: PATH,
      name: 'cancelled',
      before: () =>
        api.serve(
          ...run({
            state: 'cancelled',
            outcome: null,
            result: null,
            reason: 'cancelled',
            errorMessage: 'Someone cancelled the run.',
            steps: [
              model(0, {
                state: 'failed',
                errorMessage: 'The run was cancelled.',
                finishReason: null,
              }),
            ],
          }),
        ),
      act: says('Someone cancelled the run.'),
    },
    {
      path: PATH,
      name: 'of-backfill',
      before: () => api.serve(...run({ trigger: 'backfill', backfillId: 'bkf_01kx3k9y6wfd8r0v5m2c7t4q2k' })),
      act: (page) => page.getByRole('link', { name: 'Backfill' }).waitFor(),
    },
  ]);
});

test('a result that was left out of the context window says from which step on, and that step counts such results', async ({
  api,
  visit,
}) => {
  const left = (index: number, from: number | null, connectionName: string | null = 'Library') =>
    tool(index, 'lookup', {
      connectionId: connectionName === null ? null : 'con_01kx3k9y6wfd8r0v5m2c7t4q8g',
      connectionName,
      result: 'word word',
      resultLength: 9,
      omittedFromStep: from,
      argumentsLength: 27,
    });
  const calls = { finishReason: 'tool-calls' };
  const steps = [model(0, calls), left(1, 4), model(2, calls), left(3, 4), model(4, calls), left(5, null), model(6)];
  const open = async (page: Page, index: number) => {
    const rows = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    const row = rows.filter({ has: page.getByRole('button') }).nth(index);
    await row.getByRole('button').first().click();
    return row;
  };
  await photograph(visit, 'run', [
    {
      path: PATH,
      name: 'left-out',
      before: () => api.serve(...run({ steps })),
      act: async (page) => {
        const call = await open(page, 1);
        await call.getByRole('link', { name: 'Library' }).waitFor();
        await call.getByText('From step 5 on it is no longer sent').waitFor();
        const step = await open(page, 4);
        await step.getByText(/2 earlier results? (is|are) left out/).waitFor();
        const newest = await open(page, 5);
        await newest.getByText('Result', { exact: true }).waitFor();
        expect(await newest.getByText('no longer sent').count()).toBe(0);
      },
    },
    {
      path: PATH,
      name: 'connection-deleted',
      before: refusing(/^\/v1\/connections\//, 404, { code: 'connection_not_found', message: 'It was deleted.' }),
      act: async (page) => {
        const call = await open(page, 1);
        await call.getByText('Library, deleted since').waitFor();
        expect(await call.getByRole('link').count()).toBe(0);
      },
    },
  ]);
});
