import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { prices, typedRoutine } from '#test/core/execution/results/world.ts';
import { PASSWORD, signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { pressAtOnce } from './support/keys.ts';

const test = dashboardTest();

test('a morning without a mouse: from the sign-in to three results that were read', async ({ service, visit }) => {
  const reader = await signUp(service);
  const key = await reader.key();
  const watch = await typedRoutine(service, key, { name: 'Prices of three competitors' });
  await watch.run(prices({ tea: 3, milk: 1 }));
  await watch.run(prices({ tea: 4, jam: 2 }));
  const report = await typedRoutine(service, key, {
    resultSchema: null,
    resultKey: null,
    name: 'Weekly report',
  });
  await report.run('# Week 47\n\n**Visits** 1,388');

  const { page, settled, expectClean } = await visit('/');
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const stop = async () => {
    await settled();
    await expectClean();
  };

  await page.waitForURL(/\/sign-in/);
  await heading('Sign in');
  await stop();
  // The first field of the page has the focus.
  await expectFocus(page, 'E-mail address');
  await page.keyboard.type(reader.email);
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');

  await heading('Home');
  await stop();
  await skipToPage(page);
  await tabTo(page, 'New routine');
  await page.keyboard.press('j');
  await expectFocus(page, 'Weekly report');
  await page.keyboard.press('Enter');

  await heading('Weekly report');
  await page.getByText('1,388').waitFor();
  await stop();
  // A link within the page leads to another page without a reload.
  await tabTo(page, 'Runs');
  await pressAtOnce(page, ['g', 'h']);

  await heading('Home');
  const news = page.getByRole('region', { name: 'New results' });
  await expect.poll(() => news.locator('[data-run]').count()).toBe(1);
  await stop();
  await page.keyboard.press('j');
  await expectFocus(page, 'Prices of three competitors');
  await page.keyboard.press('Enter');

  await heading('Prices of three competitors');
  await page.getByRole('row', { name: 'jam' }).waitFor();
  await stop();
  await page.keyboard.press('[');
  await page.getByRole('row', { name: 'milk 1' }).waitFor();
  await page.getByRole('link', { name: 'Next result' }).waitFor();
  await stop();
  // The next stop is the page, and not the frame around it.
  expect(await page.locator(':focus').getAttribute('id')).toBe('page');
  await tabTo(page, 'Runs');
  await page.keyboard.press(']');
  await page.getByRole('row', { name: 'jam' }).waitFor();
  await pressAtOnce(page, ['g', 'h']);

  await news.getByText('You have read everything.').waitFor();
  await stop();
  const unread = await reader.session.with({ 'X-Project-Id': reader.projectId }).get('/v1/results/unread');
  expect(unread.data).toMatchObject({ worthReading: 0, unchanged: 0 });
});

/** Presses the first stop of a page, the link that skips its frame. */
async function skipToPage(page: Page): Promise<void> {
  await page.keyboard.press('Tab');
  await expectFocus(page, 'Skip to the page');
  await page.keyboard.press('Enter');
  expect(await page.locator(':focus').getAttribute('id')).toBe('page');
}

const MOST_STOPS = 5;

/** Presses Tab until the control of this name has the focus, within a few stops. */
async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = [];
  for (let count = 0; count < MOST_STOPS; count += 1) {
    await page.keyboard.press('Tab');
    const focus = await focusOf(page);
    if (focus.name === name) return expectFocus(page, name);
    seen.push(focus.name);
  }
  throw new Error(`${name} is not among ${seen.join(', ')}`);
}

/** Expects that the control has the focus, and that the focus is visible. */
async function expectFocus(page: Page, name: string): Promise<void> {
  await expect.poll(() => focusOf(page)).toEqual({ name, isMarked: true, isInView: true });
}

interface Focus {
  readonly name: string;
  readonly isMarked: boolean;
  readonly isInView: boolean;
}

function focusOf(page: Page): Promise<Focus> {
  return page.evaluate<Focus>(`(() => {
    const element = document.activeElement;
    const { top, bottom, width } = element.getBoundingClientRect();
    const marks = [getComputedStyle(element), getComputedStyle(element, '::after')];
    return {
      name: (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim(),
      isMarked: element.matches(':focus-visible')
        && marks.some(({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none'),
      isInView: width > 0 && bottom > 0 && top < innerHeight,
    };
  })()`);
}
