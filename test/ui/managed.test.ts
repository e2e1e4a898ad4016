import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { routineBody } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';

const test = dashboardTest();

const WARNING = /^Kept in files as .*the next apply overwrites it/;

function mark(page: Page) {
  return page.getByTitle(/^Kept in files\./);
}

test('what files keep says so, and warns before an edit', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const kept = { managedBy: 'files' };
  const style = { name: 'House style', instructions: 'Keep sentences short, please.' };
  const skill = (await client.put('/v1/skills/by-key/house-style', { ...style, ...kept })).data.id;
  const tone = { name: 'Tone of voice', instructions: 'Be kind to all readers.', ...kept };
  const { id: toneId } = (await client.put('/v1/skills/by-key/tone', tone)).data;
  await client.patch(`/v1/skills/${toneId}`, {
    instructions: 'Be kind to all readers, and brief.',
  });
  const body = routineBody({ name: 'Weekly site audit of the shop', skills: [skill], ...kept });
  const { id } = (await client.put('/v1/routines/by-key/weekly-site-audit', body)).data;
  const drifted = routineBody({ name: 'Changed here', ...kept });
  const { id: changed } = (await client.put('/v1/routines/by-key/changed-here', drifted)).data;
  await client.patch(`/v1/routines/${changed}`, { schedule: '@daily' });
  const free = routineBody({ name: 'By hand', externalKey: 'by-hand' });
  const other = (await client.post('/v1/routines', free)).data.id;
  const at = `/p/${person.projectId}`;
  const seen = { as: person };
  const marked = (page: Page) => expect.poll(() => mark(page).count()).toBe(1);
  await photograph(visit, 'managed', [
    {
      ...seen,
      name: 'routines',
      path: `${at}/routines`,
      act: (page) => expect.poll(() => mark(page).count()).toBe(2),
    },
    {
      ...seen,
      name: 'drifted',
      path: `${at}/routines/${changed}`,
      act: (page) => page.getByText('Differs from files', { exact: true }).waitFor(),
    },
    {
      ...seen,
      name: 'routine',
      path: `${at}/routines/${id}`,
      act: async (page) => {
        await marked(page);
        await page.getByText('weekly-site-audit', { exact: true }).waitFor();
        expect(await page.getByText(WARNING).count()).toBe(0);
      },
    },
    {
      ...seen,
      name: 'composer',
      path: `${at}/routines/${id}/edit`,
      act: (page) => page.getByText(WARNING).waitFor(),
    },
    {
      ...seen,
      name: 'skills',
      path: `${at}/skills`,
      async act(page) {
        await expect.poll(() => mark(page).count()).toBe(2);
        await page.getByText('Differs from files', { exact: true }).waitFor();
      },
    },
    {
      ...seen,
      name: 'skill',
      path: `${at}/skills/${skill}`,
      act: async (page) => {
        await marked(page);
        await page.getByText(WARNING).waitFor();
      },
    },
    {
      ...seen,
      name: 'free',
      path: `${at}/routines/${other}`,
      act: async (page) => {
        await page.getByText('by-hand', { exact: true }).waitFor();
        expect(await mark(page).count()).toBe(0);
      },
    },
  ]);
});
