import type { Page } from 'playwright-core';

const DEVICE_START = '/v1/model-connections/provider-a/device/start';

export interface StartedSignIn {
  readonly attemptId: string;
  readonly userCode: string;
  readonly intervalSeconds: number;
}

/** Opens the dialog for an account at the provider in this slot, on the open page of model accounts. */
export async function openAccountDialog(page: Page, slot: string): Promise<void> {
  const headers = { 'X-Project-Id': /prj_[0-9a-z]+/.exec(page.url())![0] };
  const response = await page.request.get('/v1/model-connections/providers', { headers });
  const { data } = await response.json();
  const { name } = data.find(({ provider }: { provider: string }) => provider === slot);
  // The button appears once the runtime has responded. The runtime may start slowly, so the page asks again by itself.
  await page.getByRole('button', { name: `Connect an account at ${name}`, exact: true }).click();
  await page.getByRole('dialog', { name: `Connect ${name}` }).waitFor();
}

/** Opens the dialog of the provider with device codes, and requests a code. */
export async function getCode(page: Page): Promise<StartedSignIn> {
  await openAccountDialog(page, 'provider-a');
  return askForCode(page);
}

/** Requests a code in the open dialog. */
export async function askForCode(page: Page): Promise<StartedSignIn> {
  await page.clock.install();
  const response = page.waitForResponse((each) => each.url().endsWith(DEVICE_START));
  await page.getByRole('button', { name: 'Get a code' }).click();
  const { data } = await (await response).json();
  await page.getByText(data.userCode).waitFor();
  return data;
}

/** Lets the time pass after which the page polls the sign-in again. */
export async function letIntervalPass(page: Page, started: StartedSignIn): Promise<void> {
  await page.clock.fastForward(started.intervalSeconds * 1_000);
}

/** Opens the provider's page with the dialog's button, and enters the code there; returns the clipboard's text. */
export async function enterCodeThere(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const opened = page.context().waitForEvent('page');
  await page.getByRole('button', { name: /^Copy and open/ }).click();
  await (await opened).getByText('Agreed.').waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}
