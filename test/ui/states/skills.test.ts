import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, forbidding, headed, holding, photograph, refusing } from '../support/photograph.ts';
import { sample, type Changes } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

type Summary = Changes<Shape<'SkillSummary'>>;

const OWN = 'skl_01kx3k9y6wfd8r0v5m2c7t4q4c';
const LIST = `${AT}/skills`;
const HOUSE_STYLE: Summary = {
  id: OWN,
  name: 'House style',
  description: 'How we write, and what we never say.',
  version: '1',
  createdAt: ago(900),
  updatedAt: ago(90),
  length: 420,
};
const CURATED: Summary = {
  slug: 'seo-audit',
  name: 'SEO audit',
  category: 'seo',
  cadence: 'weekly',
  check: 'weekly',
  version: '3',
  checked: '2026-11-01',
  suggestedSchedule: '0 7 * * 1',
  needs: ['web'],
  description: 'Audits a site.',
};
const PERSONAS: Summary = {
  slug: 'buyer-personas',
  name: 'Buyer personas',
  category: 'strategy',
  cadence: 'on-demand',
  check: 'quarterly',
  suggestedSchedule: '0 7 1 1,4,7,10 *',
  version: '1',
  description: 'Describes buyers.',
};
/** Skills of one category, more than the page shows before a person chooses it. */
const CONTENT = ['Briefs', 'Calendar', 'Editing', 'Tone', 'Transcripts'].map((name) =>
  sample('SkillSummary', { slug: name.toLowerCase(), name, category: 'content', cadence: 'weekly', version: '1' }),
);
const SKILLS = [
  ...CONTENT,
  sample('SkillSummary', HOUSE_STYLE),
  sample('SkillSummary', {
    ...HOUSE_STYLE,
    id: OWN.replace(/.$/, 'd'),
    name: 'Tone',
    managedBy: 'files',
    driftedAt: ago(9),
  }),
  sample('SkillSummary', CURATED),
  sample('SkillSummary', PERSONAS),
];

test('skills in all their states', async ({ api, visit }) => {
  const seen = { path: LIST };
  const instructions =
    'Write as we do.\n\n1. Short sentences.\n\n### Sample page\nAll invented.\n\n```text\nThree titles are cut off.\n\nFixes\nPage | Title\n/pricing | Too long | again\n```\n\n### State\nNone.';
  const missing = { code: 'not_found', message: 'There is no such skill.' };
  const serve = (kept: object = {}) =>
    api.serve(
      ...FRAME,
      answer('get', '/v1/skills', SKILLS),
      answer('get', '/v1/skills/{skillId}', ({ of }) => {
        const found: Record<string, Summary> = {
          [OWN]: { ...HOUSE_STYLE, ...kept },
          'seo-audit': CURATED,
          'buyer-personas': PERSONAS,
        };
        return sample('SkillDetail', { ...found[of['skillId']!], instructions });
      }),
      answer('get', '/v1/routines', [sample('RoutineSummary', { name: 'Weekly digest', skills: [OWN] })]),
      answer('get', '/v1/schedules/preview', sample('SchedulePreview', { inWords: 'On the first of each quarter' })),
    );
  const says = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
  await photograph(visit, 'skills', [
    {
      ...seen,
      name: 'full',
      before: () => serve(),
      async act(page) {
        await page.getByText('Differs from files', { exact: true }).waitFor();
        await page.getByText('Best on demand, its check quarterly').waitFor();
      },
    },
    {
      ...seen,
      name: 'category',
      async act(page) {
        const cards = page.getByRole('region', { name: 'Content' }).getByRole('listitem');
        expect(await cards.count()).toBe(3);
        await page.getByRole('button', { name: 'Show all of Content' }).click();
        await page.waitForURL(/category=content$/);
        await expect.poll(() => cards.count()).toBe(CONTENT.length);
      },
    },
    { ...seen, name: 'nothing-found', path: `${LIST}?search=nothing-like-it` },
    { ...seen, name: 'loading', before: holding('/v1/skills'), loading: true },
    { ...seen, name: 'failed', before: failing('/v1/skills') },
    { ...seen, name: 'forbidden', before: forbidding('/v1/skills') },
    {
      ...seen,
      name: 'new',
      path: `${LIST}?category=social`,
      async act(page) {
        await page.getByRole('button', { name: 'New skill' }).first().click();
        await page.getByRole('dialog').getByLabel('Name').waitFor();
      },
    },
    {
      ...seen,
      name: 'curated',
      path: `${LIST}/seo-audit`,
      async act(page) {
        // The region shows only the sample, without its fence and the text beside it.
        await page
          .getByRole('region', { name: 'A result looks like this' })
          .getByText('Three titles are cut off.', { exact: true })
          .waitFor();
        await page.getByRole('columnheader', { name: 'Title' }).waitFor();
        await page.getByRole('cell', { name: 'again' }).waitFor();
        expect(await page.getByText('Write as we do.').count()).toBe(0);
        const use = page.getByRole('link', { name: 'Use in a routine' });
        expect(await use.getAttribute('href')).toContain('/routines/new?skill=seo-audit');
      },
    },
    {
      ...seen,
      name: 'one-off',
      path: `${LIST}/buyer-personas`,
      async act(page) {
        await page.getByText('on demand, its check quarterly').waitFor();
        await page.getByTitle('0 7 1 1,4,7,10 *').getByText('On the first of each quarter').waitFor();
      },
    },
    { ...seen, name: 'custom', path: `${LIST}/${OWN}`, act: says('Weekly digest') },
    {
      ...seen,
      name: 'delete',
      path: `${LIST}/${OWN}`,
      async act(page) {
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('button', { name: 'Delete skill' }).waitFor();
      },
    },
    {
      ...seen,
      name: 'kept-in-files',
      path: `${LIST}/${OWN}`,
      before: () => serve({ managedBy: 'files', externalKey: 'house-style' }),
      async act(page) {
        await page.getByText(/^Kept in files as .*the next apply overwrites them/).waitFor();
        expect(await page.getByTitle(/^Kept in files\./).count()).toBe(1);
      },
    },
    {
      ...seen,
      name: 'lost',
      path: `${LIST}/nothing-here`,
      before: refusing('/v1/skills/nothing-here', 404, missing),
      act: headed('Skill'),
    },
  ]);
});
