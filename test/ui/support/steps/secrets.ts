import type { Page } from 'playwright-core';

/** Reads a secret that is shown once, and closes the dialog with its only button. */
export async function storeSecret(page: Page, label: string): Promise<string> {
  const region = page.getByRole('region', { name: label });
  const secret = (await region.textContent()) ?? '';
  await page.keyboard.press('Escape');
  await region.waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await region.waitFor({ state: 'detached' });
  return secret;
}

/** Creates an API key on the open page of keys, which then shows the key. */
export async function makeKey(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('heading', { name: 'Your API key' }).waitFor();
}
