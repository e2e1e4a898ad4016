import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine } from '#test/support/routines.ts';
import { filledTest, pathsOf } from './support/every-page.ts';
import { sizeOf } from './support/fixtures.ts';
import { pressAtOnce } from './support/keys.ts';
import { overflowOf } from './support/photograph.ts';
import { walkByTab } from './support/tab-walk.ts';

const test = filledTest();

test('pages can be gone through by the Tab key: all is reached, in order, seen, and left again', async ({
  person,
  made,
  visit,
}) => {
  const { page, settled } = await visit('about:blank', { as: person });
  const faults: Record<string, unknown> = {};
  const paths = pathsOf(person, made).filter((_, nth) => FULL_SIZE || nth % 6 === 0);
  for (const path of paths) {
    await page.goto(path);
    await settled();
    const found = [...faultsOf(await walkByTab(page)), ...(await faultsAtNarrowest(page))];
    if (found.length > 0) faults[path] = found;
  }
  const { page: outside, settled: ready } = await visit('about:blank');
  for (const path of FULL_SIZE ? ['/sign-up', '/sign-in', '/reset-password', '/invitations#token'] : ['/sign-up']) {
    await outside.goto(path);
    await ready();
    const found = [...faultsOf(await walkByTab(outside)), ...(await faultsAtNarrowest(outside))];
    if (found.length > 0) faults[path] = found;
  }
  expect(faults).toEqual({});
});

/** Checks for sideways scrolling in the narrowest window that the dashboard supports. */
async function faultsAtNarrowest(page: Page): Promise<string[]> {
  const size = page.viewportSize();
  await page.setViewportSize(sizeOf(320));
  const found = await overflowOf(page);
  if (size !== null) await page.setViewportSize(size);
  return found.map((what) => `too wide at 320 px: ${what}`);
}

function faultsOf({ stops, missed, ends }: Awaited<ReturnType<typeof walkByTab>>): string[] {
  return [
    ...(ends ? [] : ['the focus never leaves the page']),
    ...(stops.length === 0 ? ['nothing takes the focus'] : []),
    ...missed.map((name) => `not reached: ${name}`),
    ...stops.filter((stop) => !stop.hasVisibleFocus).map(({ name }) => `focus not seen: ${name}`),
    ...stops.filter((stop) => !stop.isInView).map(({ name }) => `out of sight: ${name}`),
    ...stops.filter((stop) => !stop.isInOrder).map(({ name }) => `out of order: ${name}`),
  ];
}

test('every dialog takes the focus, keeps it, closes with Escape and returns it', async ({ person, made, visit }) => {
  const routine = `routines/${made.routineId}`;
  const { page, settled } = await visit('about:blank', { as: person });
  const openers: readonly (readonly [path: string, button: string | RegExp, item?: string])[] = [
    [routine, 'More', 'Run with other values or later'],
    [routine, 'More', 'Run for missed times'],
    [routine, 'More', 'Pause'],
    [routine, 'More', 'Archive'],
    [`${routine}/edit`, 'Add skill'],
    ['skills', 'New skill'],
    [`skills/${made.skillId}`, 'Delete'],
    [`connections/${made.connectionId}`, 'More actions', 'Rename'],
    [`connections/${made.connectionId}`, 'More actions', 'Delete'],
    ['api-keys', /^(Create|New).*key/],
    ['settings?tab=members', 'Invite a person'],
    ['settings?tab=organization', 'Delete organization'],
    ['settings?tab=account', 'Delete account'],
    ['', 'Search'],
  ];
  const focus = page.locator(':focus');
  for (const [path, button, item] of openers.filter((_, nth) => FULL_SIZE || nth % 4 === 0)) {
    await page.goto(`/p/${person.projectId}/${path}`);
    await settled();
    const opener = page.getByRole('button', { name: button }).first();
    await opener.press('Enter');
    if (item !== undefined) await page.getByRole('menuitem', { name: item }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const name = `${path}: ${item ?? String(button)}`;
    await expectFocusInDialog(page, `${name} takes the focus`);
    for (let count = 0; count < 30; count += 1) {
      await page.keyboard.press(count % 3 === 2 ? 'Shift+Tab' : 'Tab');
      await expectFocusInDialog(page, `${name} keeps the focus`);
    }
    // If a tooltip is open, the first Escape closes only the tooltip.
    await dialog.focus();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => opener.and(focus).count(), { message: `${name} gives it back` }).toBe(1);
  }
});

test('the keys work as the help says', async ({ person, visit }) => {
  const routineId = await createRoutine(await person.key());
  const { page } = await visit(`/p/${person.projectId}/settings`, { as: person });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.waitFor();
  const rows = await help.getByRole('listitem').all();
  const listed = await Promise.all(
    rows.map(async (row) => ({
      keys: await row.locator('kbd').allInnerTexts(),
      label: (await row.innerText()).split('\n')[0] ?? '',
    })),
  );
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  const chords = listed.filter(({ keys }) => keys[0] === 'G');
  const links = page.getByRole('navigation').first().getByRole('link');
  expect(chords.map(({ label }) => label)).toEqual(await links.allInnerTexts());
  for (const { keys, label } of chords) {
    await pressAtOnce(
      page,
      keys.map((key) => key.toLowerCase()),
    );
    await page.locator('a[aria-current="page"]', { hasText: label }).first().waitFor();
  }
  const palette = page.getByRole('combobox', { name: 'Search and commands' });
  for (const key of ['/', 'Control+k']) {
    await page.keyboard.press(key);
    await palette.waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
  }
  await page.goto(`/p/${person.projectId}/routines/${routineId}/edit`);
  await page.getByRole('textbox', { name: 'Instructions' }).press('Control+Enter');
  await page.waitForURL(/\/edit\?run=run_/);
  // Every listed key is tested here, or in the file that a comment above the key names.
  const others = listed.filter(({ keys }) => keys[0] !== 'G');
  expect(others.map(({ keys }) => keys.join(' '))).toEqual([
    'Ctrl K',
    '/',
    'Ctrl Enter',
    // These keys are tested in brief.test.ts and morning.test.ts.
    'J',
    'K',
    'E',
    'A',
    // These keys are tested in reading.test.ts.
    '[',
    ']',
    '?',
    'Esc',
    // These keys are tested in states/inbox.test.ts.
    'J',
    'K',
    'A',
    'E',
    'R',
    'X',
  ]);
});

/** Waits for the focus, which moves one frame after a key. */
async function expectFocusInDialog(page: Page, message: string): Promise<void> {
  await expect.poll(() => page.evaluate<boolean>(HOLDS_FOCUS), { message, interval: 20 }).toBe(true);
}

/** The condition is not `:focus`, because no element has it while the button of a field's calendar is focused. */
const HOLDS_FOCUS = `document.activeElement?.closest('[role=dialog]') != null`;
