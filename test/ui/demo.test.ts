import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { serveDemoTools } from '#dev/demo/tools.ts';
import { seedDemo } from '#dev/stack/seed.ts';
import { signIn } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';

const test = dashboardTest().extend('demo', { scope: 'file' }, async ({ service }, { onCleanup }) => {
  const [tools, dataDir] = await Promise.all([serveDemoTools(0), mkdtemp(path.join(tmpdir(), 'ras-demo-'))]);
  onCleanup(async () => {
    await Promise.all([tools.stop(), rm(dataDir, { recursive: true })]);
  });
  const demo = await seedDemo(service.url, {
    dataDir,
    databaseUrl: service.databaseUrl,
    uiOrigin: service.config.UI_ORIGIN,
    toolServer: tools.url,
    // This service sends no mail, so addresses need no confirmation.
    mail: '',
    model: { modelIds: ['fixture/writer-small'], isFree: true },
  });
  await demo.firstRun;
  return { ...demo, person: await signIn(service, demo.email, demo.password) };
});

test('the demo reads as a usual morning, from Home to each run', async ({ demo, visit }) => {
  const { person } = demo;
  const base = `/p/${demo.projectId}`;
  const project = person.session.with({ 'X-Project-Id': demo.projectId! });
  const { data: results } = await project.get('/v1/results?worthReading=true&limit=100');
  const latest = (name: string) => results.find((result: Named) => result.routineName === name);
  const watch = latest('Weekly competitor watch');
  const { data: failed } = await project.get('/v1/runs?state=failed');
  const run = ({ id, runId = id }: { id?: string; runId?: string }) => `${base}/runs/${runId}`;
  await photograph(visit, 'demo', [
    {
      name: 'home',
      as: person,
      path: base,
      picture: 'home',
      act: (page) => page.getByText('studiolark/team: price 49 → 39').waitFor(),
    },
    { name: 'routines', as: person, path: `${base}/routines`, picture: 'routines' },
    { name: 'check', as: person, path: run(latest('Daily site check')) },
    { name: 'watch', as: person, path: run(watch) },
    { name: 'failed', as: person, path: run(failed[0]) },
    { name: 'plan', as: person, path: run(latest('Monthly content plan')) },
    { name: 'usage', as: person, path: `${base}/usage` },
  ]);

  const { page, complaints } = await visit(run(watch), { as: person });
  await page.getByText('Studiolark cut Team from 49 to 39 USD').first().waitFor();
  await page.getByRole('row', { name: '~ Changed' }).filter({ hasText: 'was 49' }).waitFor();
  await page.getByRole('row', { name: '+ Added' }).waitFor();
  await page.getByText('Same version, model, variables and tools.').waitFor();
  expect(complaints).toEqual([]);
});

test('the demo goes at the press of a button, and the own project opens', async ({ demo, visit }) => {
  const { person } = demo;
  const watched = await visit(`/p/${demo.projectId}`, { as: person });
  const { page } = watched;
  await page.getByText('Demo data: three routines with four weeks of made-up runs.').waitFor();
  await page.getByRole('button', { name: 'Remove the demo' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove the demo?' });
  await dialog.waitFor();
  await watched.settled();
  await watched.expectClean();
  await dialog.getByRole('button', { name: 'Remove the demo' }).click();
  await page.waitForURL(new RegExp(`/p/${person.projectId}`));
  await page.getByRole('link', { name: 'Make a routine' }).waitFor();
  expect(await page.getByText('Demo data').count()).toBe(0);
  const { data: projects } = await person.session.get('/v1/projects');
  expect(projects.map(({ id }: { id: string }) => id)).toEqual([person.projectId]);
  expect(watched.complaints).toEqual([]);
});

interface Named {
  readonly routineName: string;
}
