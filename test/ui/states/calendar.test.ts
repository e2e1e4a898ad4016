import type { Page as Tab } from 'playwright-core';
import { expect } from 'vitest';
import { answer, Page, type Asked } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { AT, FRAME } from '../support/frame.ts';
import { failing, forbidding, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const DAY_MS = 86_400_000;
const DAILY = 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c';
const HOURLY = 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4d';
/** Mondays of a week in the past and of the next two weeks. */
const WEEKS = [-7, 7, 14].map((days) => mondayOf(new Date(Date.now() + days * DAY_MS)));
const [PAST = '', NEXT = '', LATER = ''] = WEEKS;
const CALENDAR = `${AT}/calendar?week=`;
const SKIPPED = 'The previous run of the routine was still going.';

/** Returns the Monday of an instant's week. */
function mondayOf(at: Date): string {
  const day = new Date(at.getTime() - ((at.getUTCDay() + 6) % 7) * DAY_MS);
  return day.toISOString().slice(0, 10);
}

function skippedAt(hour: number, end: string) {
  const at = `${PAST}T${String(hour).padStart(2, '0')}:00:00.000Z`;
  return sample('RunSummary', {
    id: `run_01kx3k9y6wfd8r0v5m2c7t4q5${end}`,
    routineId: HOURLY,
    routineName: 'Feed watch',
    state: 'skipped',
    reason: 'overlap',
    errorMessage: SKIPPED,
    scheduledFor: at,
    createdAt: at,
    finishedAt: at,
    skipped: {
      count: 3,
      from: at,
      until: at,
    },
  });
}

/** Makes occurrences of a daily routine and of an hourly routine. */
function occurrences({ query }: Asked) {
  const from = Date.parse(query.get('from')!);
  const to = Math.min(Date.parse(query.get('to')!), from + 7 * DAY_MS);
  const hours = Array.from({ length: Math.floor((to - from) / 3_600_000) }, (_, hour) => hour);
  const at = (hour: number, routineId: string, routineName: string) => {
    const scheduledFor = new Date(from + hour * 3_600_000).toISOString();
    return { routineId, routineName, scheduledFor, startsAt: scheduledFor };
  };
  return sample('ScheduledOccurrences', {
    occurrences: hours.flatMap((hour) => [
      at(hour, HOURLY, 'Feed watch'),
      ...(hour % 24 === 7 ? [at(hour, DAILY, 'Daily site check')] : []),
    ]),
  });
}

/** Two runs of one day: one with news, and one that found nothing. */
const SAID = (['news', 'quiet'] as const).map((kind, nth) => {
  const at = `${PAST}T0${nth + 7}:00:00.000Z`;
  return sample('RunSummary', {
    id: `run_01kx3k9y6wfd8r0v5m2c7t4q6${nth}`,
    routineId: DAILY,
    routineName: 'Daily site check',
    state: 'succeeded',
    outcome: kind === 'news' ? 'done' : 'nothing_to_report',
    outcomeSummary: kind === 'news' ? 'The sign-up page answers 404.' : 'All pages answer.',
    urgency: kind === 'news' ? 'normal' : 'none',
    scheduledFor: at,
    createdAt: at,
    finishedAt: at,
  });
});

const FULL = [
  ...FRAME,
  answer('get', '/v1/runs', [skippedAt(9, 'a'), ...SAID]),
  answer('get', '/v1/schedules/occurrences', occurrences),
];

test('the calendar in all its states, and by arrows', async ({ api, visit }) => {
  const path = CALENDAR + PAST;
  const read = /^\/v1\/(runs|schedules)/;
  await photograph(visit, 'calendar', [
    {
      name: 'full',
      path,
      before: () => api.serve(...FULL),
      async act(page) {
        await page.getByText(SKIPPED).first().waitFor();
        await page.getByText('The sign-up page answers 404.').waitFor();
        expect(await page.getByText('All pages answer.').count()).toBe(0);
      },
    },
    { name: 'to-come', path: CALENDAR + LATER, act: (page) => page.getByText('Daily site check').first().waitFor() },
    {
      name: 'month',
      holds: true,
      path: `${CALENDAR}${LATER}&view=month`,
      async act(page) {
        const days = await page.getByRole('list', { name: 'Days' }).locator('[data-day]').count();
        expect([28, 35, 42]).toContain(days);
        const month = new Date(`${LATER}T12:00`).toLocaleDateString('en-GB', { month: 'long', year: 'numeric' });
        await page.getByText(`${month}, in Europe/Berlin.`).waitFor();
        await page
          .getByRole('link', { name: /^Feed watch/ })
          .first()
          .getByText('×24')
          .waitFor();
      },
    },
    {
      name: 'hours',
      path: `${CALENDAR}${LATER}&view=hours`,
      async act(page) {
        await page
          .getByRole('row', { name: /Daily site check/ })
          .getByRole('link', { name: 'Daily site check' })
          .first()
          .waitFor();
        expect(await page.getByRole('rowheader').count()).toBe(24);
      },
    },
    { name: 'loading', path, before: holding(read), loading: true, holds: true },
    { name: 'failed', path, before: failing(read) },
    { name: 'forbidden', path, before: forbidding(read) },
    { name: 'empty', path, before: () => api.serve(...FRAME) },
  ]);

  api.serve(...FULL);
  const { page } = await visit(CALENDAR + NEXT);
  await page.getByRole('button', { name: 'Week after' }).press('Enter');
  await page.waitForURL(({ search }) => search === `?week=${LATER}`);
  const links = page.getByRole('link', { name: 'Daily site check' });
  await expect.poll(() => links.count()).toBe(7);
  await links.first().focus();
  await page.keyboard.press('ArrowRight');
  expect(await focusedDay(page)).toBe(1);
  await page.keyboard.press('ArrowLeft');
  expect(await focusedDay(page)).toBe(0);
  // The row above is the folded hourly routine, with its name above it.
  await page.keyboard.press('ArrowUp');
  expect(await focusedText(page)).toContain('24 times');
  await page.keyboard.press('ArrowUp');
  expect(await focusedText(page)).toBe('Feed watch');
});

test('a week that could be read only in part says so, and can be read again', async ({ api, visit }) => {
  const [first, second] = [skippedAt(9, 'a'), skippedAt(8, 'b')];
  const runs = ({ query }: Asked) => (query.has('cursor') ? [second] : new Page([first], first.id));
  api.serve(...FRAME, answer('get', '/v1/runs', runs));
  const { page, settled } = await visit('about:blank');
  const later = (url: URL) => url.pathname === '/v1/runs' && url.searchParams.has('cursor');
  let refused = 0;
  await page.route(later, (route) => {
    refused += 1;
    return route.fulfill({ status: 404, body: '{}' });
  });
  await page.goto(CALENDAR + PAST);
  await page.getByText('The week could not be read').waitFor();
  await settled();
  expect(refused).toBe(1);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(SKIPPED).first().waitFor();
});

/** Returns the day of the week that has the focus. */
function focusedDay(page: Tab): Promise<number> {
  return page.evaluate<number>(
    `[...document.querySelectorAll('[data-day]')].findIndex((day) => day.contains(document.activeElement))`,
  );
}

function focusedText(page: Tab): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent');
}
