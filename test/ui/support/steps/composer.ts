import type { Page } from 'playwright-core';

export interface Draft {
  readonly name: string;
  /** Instructions with one placeholder, `{{site}}`. */
  readonly instructions: string;
  readonly site: string;
}

/** Fills in the open composer: instructions with a variable, a skill, a model. */
export async function writeRoutine(page: Page, { name, instructions, site }: Draft): Promise<void> {
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('textbox', { name: 'Instructions' }).fill(instructions);
  await page.getByRole('textbox', { name: 'site' }).fill(site);
  await page.getByRole('button', { name: 'Add skill' }).click();
  const picker = page.getByRole('dialog', { name: 'Add a skill' });
  await picker.getByRole('searchbox').fill('seo audit');
  await picker.getByRole('button', { name: /^Add .*SEO audit/i }).click();
  await picker.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('combobox', { name: 'Model' }).fill('writer-small');
  await page
    .getByRole('option', { name: /writer/i })
    .first()
    .click();
  await page.getByText(/for a million tokens/).waitFor();
}

/** Saves and runs the routine; the result appears beside the form. */
export async function testRoutine(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save and test' }).click();
}

/** Waits for the end of the test run, with a result that matches the pattern. */
export async function seeTestResult(page: Page, says: RegExp): Promise<void> {
  await page.waitForURL(/\/edit\?run=run_/);
  const result = page.getByRole('region', { name: 'Result', exact: true });
  await result.getByText(says).first().waitFor();
}

/** Leaves the composer for the routine's page, and activates the routine there. */
export async function activateRoutine(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Done' }).click();
  await page.waitForURL(/\/routines\/rtn_[^/]+$/);
  // A routine that was read two seconds ago is not read again for ten seconds.
  await page.reload();
  await page.getByText('By this run').waitFor();
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('Active, done').waitFor({ state: 'attached' });
}
