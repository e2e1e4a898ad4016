import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, forbidding, holding, photograph } from './support/photograph.ts';
import { plantSkipped } from '#test/support/given.ts';

const test = dashboardTest().extend('key', { scope: 'file' }, ({ person }) => person.key());

// Every visit names its week, as the present week may end meanwhile.
const skippedAt = new Date();

function searchOf(weeks: number): string {
  return `?week=${mondayAfter(skippedAt, weeks)}`;
}

test('the calendar in all its states, and by arrows', async ({ service, person, key, visit }) => {
  await activeRoutine(key, { name: 'Daily site check', schedule: '0 7 * * *' });
  const hourly = await activeRoutine(key, { name: 'Feed watch', schedule: '@hourly' });
  await runOnce(
    key,
    await createRoutine(key, {
      name: 'Sources that competitors cite',
      checks: [{ type: 'distinct_sources', atLeast: 3 }],
    }),
  );
  const skipped = { createdAt: skippedAt, skippedCount: 3 };
  await plantSkipped(service.deps.database, hourly, skippedAt, skipped);
  const newcomer = await signUp(service);
  const calendar = `/p/${person.projectId}/calendar`;
  const path = `${calendar}${searchOf(0)}`;
  const read = /^\/v1\/(runs|schedules)/;
  await photograph(visit, 'calendar', [
    { as: person, path, name: 'full' },
    { as: person, path: `${calendar}${searchOf(2)}`, name: 'to-come' },
    { as: newcomer, path: `/p/${newcomer.projectId}/calendar`, name: 'empty' },
    { as: person, path, name: 'loading', before: holding(read), loading: true },
    { as: person, path, name: 'failed', before: failing(read) },
    { as: person, path, name: 'forbidden', before: forbidding(read) },
  ]);

  const { page } = await visit(path, { as: person });
  await page.getByText('The previous run of the routine was still going.').first().waitFor();
  for (const weeks of [1, 2]) {
    await page.getByRole('button', { name: 'Week after' }).press('Enter');
    await page.waitForURL(({ search }) => search === searchOf(weeks));
  }
  const links = page.getByRole('link', { name: 'Daily site check' });
  await expect.poll(() => links.count()).toBe(7);
  await links.first().focus();
  await page.keyboard.press('ArrowRight');
  expect(await focusedDay(page)).toBe(1);
  await page.keyboard.press('ArrowLeft');
  expect(await focusedDay(page)).toBe(0);
  // Above it stands what runs every hour, folded, with its name above that.
  await page.keyboard.press('ArrowUp');
  expect(await focusedText(page)).toContain('24 times');
  await page.keyboard.press('ArrowUp');
  expect(await focusedText(page)).toBe('Feed watch');
});

test('a week that cannot be read to its end says so, and asks again when it is told to', async ({ service, visit }) => {
  const owner = await signUp(service);
  const routineId = await activeRoutine(await owner.key(), { schedule: '@hourly' });
  const skipped = { createdAt: skippedAt, skippedCount: 3 };
  for (const at of [skippedAt, new Date(skippedAt.getTime() - 60_000)]) {
    await plantSkipped(service.deps.database, routineId, at, skipped);
  }
  const { page, settled } = await visit('about:blank', { as: owner });
  const asked: string[] = [];
  let isRefused = true;
  await page.route(
    ({ pathname }) => pathname === '/v1/runs',
    (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.has('cursor') && isRefused) {
        asked.push(url.search);
        return route.fulfill({ status: 404, body: '{}' });
      }
      url.searchParams.set('limit', '1');
      return route.continue({ url: url.href });
    },
  );
  await page.goto(`/p/${owner.projectId}/calendar${searchOf(0)}`);
  await page.getByText('The week could not be read').waitFor();
  await settled();
  expect(asked).toHaveLength(1);
  isRefused = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The previous run of the routine was still going.').first().waitFor();
});

/** Names the Monday of the week in which an instant lies for readers in Berlin, or of one so many weeks later. */
function mondayAfter(at: Date, weeks: number): string {
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(at);
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 6) % 7) + 7 * weeks);
  return noon.toISOString().slice(0, 10);
}

/** Returns the day of the week that holds the focus. */
function focusedDay(page: Page): Promise<number> {
  return page.evaluate<number>(
    `[...document.querySelectorAll('[data-day]')].findIndex((day) => day.contains(document.activeElement))`,
  );
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent');
}
