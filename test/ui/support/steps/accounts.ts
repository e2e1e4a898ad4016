import type { Page } from 'playwright-core';
import type { Mailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD } from '#test/support/people.ts';

const CONFIRMATION = /(https?:\/\/\S+verify-email\?\S+)/;

/** Returns the confirmation link from the newest mail to an address. */
export function confirmationLink(mailbox: Mailbox, email: string): Promise<string> {
  return mailbox.find(email, CONFIRMATION);
}

/** Fills in the open sign-up form, and follows the link in the mail. */
export async function signUpByForm(
  page: Page,
  mailbox: Mailbox,
  { name = 'Ada', email = newEmail() }: { name?: string; email?: string } = {},
): Promise<string> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Look into your mailbox' }).waitFor();
  await page.goto(await confirmationLink(mailbox, email));
  await page.getByText('Your address is confirmed. Sign in to continue.').waitFor();
  return email;
}

/** Fills in the open sign-in form. */
export async function signInByForm(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
}
