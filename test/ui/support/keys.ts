import type { Page } from 'playwright-core';

/** Presses several keys at once, so that a slow machine makes no pause between them. */
export async function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}
