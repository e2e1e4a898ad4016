import { expect } from 'vitest';
import { createRoutine } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

test(
  'the keys that the help lists do what it says',
  { timeout: 60_000 },
  async ({ person, visit }) => {
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
      for (const key of keys) await page.keyboard.press(key.toLowerCase());
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
    // All of them were tried.
    const others = listed.filter(({ keys }) => keys[0] !== 'G');
    expect(others.map(({ keys }) => keys.join(' '))).toEqual([
      'Ctrl K',
      '/',
      'Ctrl Enter',
      '?',
      'Esc',
    ]);
  },
);
