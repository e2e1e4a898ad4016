import type { Page } from 'playwright-core';

/** Chooses a plan on the open billing page; ends on the payment processor's hosted page. */
export async function choosePlan(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: `Choose ${plan}` }).click();
  await page.getByRole('heading', { name: 'Checkout' }).waitFor();
}

/** Pays on the hosted page, and waits until the dashboard shows the payment. */
export async function pay(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: /^Pay \$/ }).click();
  await page.getByText(`You are on the ${plan} plan`).waitFor();
}

/** Makes the next renewal fail on the payment processor's page, 30 days later, and returns to the dashboard. */
export async function letRenewalFail(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Invoices and payment' }).click();
  await page.getByRole('button', { name: 'Let the next payments fail' }).click();
  await page.getByRole('button', { name: 'Let the next payments succeed' }).waitFor();
  await page.getByRole('button', { name: 'Let 30 days pass' }).click();
  await page.getByText('past_due').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
}
