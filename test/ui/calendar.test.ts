import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { execute, sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, forbidding, holding, photograph } from './support/photograph.ts';

const test = dashboardTest().extend('key', { scope: 'file' }, ({ person }) => person.key());

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
  await execute(
    service.deps.database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, reason,
        error_message, scheduled_for, skipped_count, skipped_until, finished_at, max_steps, timeout_seconds)
      values (${newId('run')}, ${person.organizationId}, ${person.projectId}, ${hourly}, 1, 'schedule', 'skipped',
        'overlap', 'The previous run of the routine was still going.', now(), 3, now(), now(), 5, 60)
    `,
  );
  const nobody = await signUp(service);
  const path = `/p/${person.projectId}/calendar`;
  const read = /^\/v1\/(runs|schedules)/;
  await photograph(visit, 'calendar', [
    { as: person, path, name: 'full' },
    { as: person, path: `${path}?week=2026-12-07`, name: 'to-come' },
    { as: nobody, path: `/p/${nobody.projectId}/calendar`, name: 'empty' },
    { as: person, path, name: 'loading', before: holding(read), loading: true },
    { as: person, path, name: 'failed', before: failing(read) },
    { as: person, path, name: 'forbidden', before: forbidding(read) },
  ]);

  const { page } = await visit(path, { as: person });
  await page.getByText('The previous run of the routine was still going.').first().waitFor();
  await page.getByRole('button', { name: 'Week after' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?week=\d{4}-\d\d-\d\d$/);
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

/** Returns the day of the week that holds the focus. */
function focusedDay(page: Page): Promise<number> {
  return page.evaluate<number>(
    `[...document.querySelectorAll('[data-day]')].findIndex((day) => day.contains(document.activeElement))`,
  );
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent');
}
