import type { Page } from 'playwright-core';
import type { Mailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD } from '#test/support/people.ts';

const CONFIRMATION = /(https?:\/\/\S+verify-email\?\S+)/;

/** Finds the link that confirms an address, in the newest mail to it. */
export function confirmationLink(mailbox: Mailbox, email: string): Promise<string> {
  return mailbox.find(email, CONFIRMATION);
}

/** Fills the form of the sign-up in, which is open, and follows the link of the mail. */
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
  await page.getByRole('heading', { name: 'Your address is confirmed' }).waitFor();
  return email;
}

/** Fills the form of the sign-in in, which is open. */
export async function signInByForm(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
}
