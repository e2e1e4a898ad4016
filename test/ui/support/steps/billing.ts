import type { Page } from 'playwright-core';

/** Chooses a plan on the page of billing, which is open; ends on the hosted page of the payment processor. */
export async function choosePlan(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: `Choose ${plan}` }).click();
  await page.getByRole('heading', { name: 'Checkout' }).waitFor();
}

/** Pays on the hosted page, and waits until the payment is known. */
export async function pay(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: /^Pay \$/ }).click();
  await page.getByText(`You are on the ${plan} plan`).waitFor();
}

/** Lets the renewal fail at the payment processor, whose clock moves on by a period, and comes back. */
export async function letRenewalFail(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Invoices and payment' }).click();
  await page.getByRole('button', { name: 'Let the next payments fail' }).click();
  await page.getByRole('button', { name: 'Let the next payments succeed' }).waitFor();
  await page.getByRole('button', { name: 'Let 30 days pass' }).click();
  await page.getByText('past_due').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
}
