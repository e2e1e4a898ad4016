import type { Page } from 'playwright-core';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, PROJECT } from '../support/frame.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const FACTS = `Brand terms: Acme, Acme Cloud
Gross margin: 62 %
Markets: Germany, Austria
Voice: plain, no exclamation marks`;
const NEWER = FACTS.replace('62 %', '58 %').replace(', Austria', '');
const API = `/v1/projects/${PROJECT.id}/facts`;
const TAB = `${AT}/settings?tab=facts`;
const ROUTINE = 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c';
const AUTHOR = { id: 'usr_1', kind: 'person', name: 'Ada Lovelace' } as const;

const VERSIONS = [FACTS, NEWER].map((text, nth) =>
  sample('FactsVersion', {
    version: nth + 1,
    text,
    before: nth === 0 ? null : FACTS,
    createdAt: ago(90 - nth),
    createdBy: AUTHOR,
    length: text.length,
  }),
);

function told(factsBehind: { activated: number | null; newest: number; proven: number | null } | null) {
  return answer(
    'get',
    '/v1/routines/{routineId}',
    sample('RoutineDetail', {
      id: ROUTINE,
      name: 'Weekly digest',
      state: 'active',
      facts: true,
      factsBehind,
      schedule: '0 7 * * *',
    }),
  );
}

function field(page: Page) {
  return page.getByRole('textbox', { name: 'Facts' });
}

/** Writes facts and saves them. */
function save(text: string) {
  return async (page: Page): Promise<void> => {
    await field(page).fill(text);
    await page.getByRole('button', { name: 'Save facts' }).click();
    await page.getByRole('alert').first().waitFor();
  };
}

test('facts in all their states', async ({ api, visit }) => {
  const full = [
    ...FRAME,
    answer(
      'get',
      '/v1/projects/{projectId}/facts',
      sample('ProjectFacts', { text: NEWER, version: 2, createdBy: AUTHOR }),
    ),
    answer(
      'get',
      '/v1/projects/{projectId}/facts/versions',
      VERSIONS.toReversed().map(({ changes, createdAt, createdBy, length, version }) => ({
        changes,
        createdAt,
        createdBy,
        length,
        version,
      })),
    ),
    answer(
      'get',
      '/v1/projects/{projectId}/facts/versions/{factsVersion}',
      ({ of }) => VERSIONS[Number(of['factsVersion']) - 1]!,
    ),
    told({ activated: 1, newest: 2, proven: 1 }),
    answer('post', '/v1/routines/{routineId}/preview', sample('RunPreview', { preamble: 'You are careful.' })),
  ];
  const routine = `${AT}/routines/${ROUTINE}`;
  const seen = { path: TAB };
  await photograph(visit, 'facts', [
    { ...seen, name: 'empty', before: () => api.serve(...FRAME) },
    {
      ...seen,
      name: 'full',
      before: () => api.serve(...full),
      async act(page) {
        await page.getByRole('button', { name: 'Version 2' }).click();
        await page.getByRole('region', { name: 'Version 2' }).waitFor();
      },
    },
    {
      ...seen,
      name: 'too-long',
      async act(page) {
        await refusing(API, 400, { code: 'invalid_request', message: 'The text is too long.' }, 'PUT')(page);
        await save('Brand terms: Acme. '.repeat(1_300))(page);
      },
    },
    {
      ...seen,
      name: 'save-failed',
      async act(page) {
        await failing(API, 'PUT')(page);
        await save(FACTS)(page);
      },
    },
    { path: `${TAB}&version=1`, name: 'version' },
    {
      path: `${TAB}&version=99`,
      name: 'version-lost',
      before: refusing(`${API}/versions/99`, 404, { code: 'not_found', message: 'There is no such version.' }),
    },
    { ...seen, name: 'failed', before: failing(API) },
    { ...seen, name: 'loading', before: holding(API), loading: true },
    { path: `${routine}?tab=overview`, name: 'behind', holds: true },
    { path: `${routine}?tab=preview`, name: 'preview' },
    {
      path: `${routine}/edit`,
      name: 'composer',
      async act(page) {
        await page.getByRole('button', { name: /^Results/ }).click();
        await page.getByRole('checkbox', { name: 'Project facts' }).waitFor();
      },
    },
  ]);
});
