import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { PICTURES, SHOTS } from './shots.ts';
import { sizeOf, type Visit, type VisitOptions } from './fixtures.ts';
import type { Watched } from './watched.ts';

/** A state of a page: its address, its viewer, and the actions before the picture. */
export interface State extends VisitOptions {
  readonly name: string;
  readonly path: string;
  /** Sets answers, or delays or fails requests, before the page is opened. */
  readonly before?: (page: Page) => unknown;
  /** Opens the part to photograph, and waits for it. */
  readonly act?: (page: Page) => Promise<unknown>;
  /** Rules of axe-core that do not apply here. A comment beside them gives the reason. */
  readonly excused?: readonly string[];
  /** True for a page that never stops loading, so that the test does not wait for its end. */
  readonly loading?: boolean;
  /** True for a state that holds a promise of its own, and is therefore looked at on each change. */
  readonly holds?: boolean;
  /** Name of the picture in the documentation, used when such pictures are wanted. */
  readonly picture?: string;
}

const WIDTHS = [1280, 360] as const;
const THEMES = ['light', 'dark'] as const;
/** True for all four views. Otherwise states are checked wide and light or narrow and dark, by turns. */
const ALL_VIEWS = FULL_SIZE || SHOTS !== undefined;

/** Chooses states on each change: the first in the list, full, empty and failed ones, and those that hold a promise. */
function isLookedAt({ name, holds }: State, index: number): boolean {
  return ALL_VIEWS || index === 0 || holds === true || /(full|empty|failed)$/.test(name);
}

/**
 * Opens a page in all its states, on each change in some of them, wide and narrow, light and dark. Expects of each state
 * that it follows the content security policy, writes nothing to the console and needs no sideways scrolling, and that
 * axe-core finds no serious fault, which takes a third of a second per view on a busy machine. Takes pictures if a folder
 * is named for them. All states with a signed-in person use one tab, which keeps the compiled scripts.
 */
export async function photograph(visit: Visit, pageName: string, states: readonly State[]): Promise<void> {
  const tabs = new Map<State['as'], Watched>();
  let turn = 0;
  for (const [index, state] of states.entries()) {
    const watched = tabs.get(state.as) ?? (await visit('about:blank', state));
    tabs.set(state.as, watched);
    // The settings of one state also apply to all states after it.
    await state.before?.(watched.page);
    if (isLookedAt(state, index)) await lookAt(watched, pageName, state, turn++);
    await watched.page.unrouteAll({ behavior: 'ignoreErrors' });
  }
  await Promise.all([...tabs.values()].map(({ page }) => page.context().close()));
  await writeIndex();
}

async function lookAt(watched: Watched, pageName: string, state: State, turn: number): Promise<void> {
  const { page } = watched;
  await page.setViewportSize(sizeOf(state.width ?? 1280));
  await page.emulateMedia({ colorScheme: state.theme ?? 'light', reducedMotion: 'reduce' });
  // Without this the browser would load nothing if only the fragment of the address has changed.
  if (state.path.includes('#')) await page.goto('about:blank');
  await page.goto(state.path);
  if (state.loading !== true) await watched.settled();
  await state.act?.(page);
  await takeAll(watched, turn, `${pageName}-${state.name}`, state.excused);
  if (state.picture !== undefined) await keepPicture(page, state.picture);
  expect(watched.complaints, `${pageName}, ${state.name}`).toEqual([]);
}

/**
 * Saves a picture of a usual window in both themes, in the folder `UI_PICTURES`; does nothing without that variable.
 */
async function keepPicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-theme=${theme}]`).waitFor();
    await page.screenshot({ path: path.join(PICTURES, `${name}-${theme}.png`) });
  }
}

export interface Step {
  /** True for a page of another site: it has one theme, and we cannot mend its faults. */
  readonly foreign?: boolean;
}

/** Photographs a sequence of steps, on each change the first one, and leaves the page unchanged. */
export function sequence(name: string) {
  let count = 0;
  return async (watched: Watched, step: string, { foreign = false }: Step = {}): Promise<void> => {
    count += 1;
    const { page, complaints } = watched;
    const before = page.viewportSize();
    const title = `${name}-${count}-${step}`;
    if (foreign) await takeForeign(page, title);
    else if (ALL_VIEWS || count === 1) await takeAll(watched, 0, title);
    if (before !== null) await page.setViewportSize(before);
    await page.emulateMedia({ colorScheme: null, reducedMotion: null });
    expect(complaints, title).toEqual([]);
    await writeIndex();
  };
}

async function takeForeign(page: Page, name: string): Promise<void> {
  for (const width of SHOTS === undefined ? [] : WIDTHS) {
    await page.setViewportSize(sizeOf(width));
    await takePicture(page, `${name}-${width}-light`, true);
  }
}

async function takeAll(
  { page, audit }: Watched,
  turn: number,
  name: string,
  excused: readonly string[] = [],
): Promise<void> {
  // A dialog covers the window, and not the whole page.
  const fullPage = (await page.getByRole('dialog').count()) === 0;
  for (const [index, width] of WIDTHS.entries()) {
    await page.setViewportSize(sizeOf(width));
    for (const [at, theme] of THEMES.entries()) {
      if (!ALL_VIEWS && (at !== index || at !== turn % 2)) continue;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.locator(`html[data-theme=${theme}]`).waitFor();
      await takePicture(page, `${name}-${width}-${theme}`, fullPage);
      expect(await audit(excused), `${name} at ${width} px, ${theme}`).toEqual([]);
    }
    await expectNoOverflow(page, `${name} at ${width} px`);
  }
}

async function expectNoOverflow(page: Page, name: string): Promise<void> {
  expect(await overflowOf(page), `${name} is too wide, by`).toEqual([]);
  expect(await page.evaluate<string[]>(BEYOND_CELL), `${name}, beyond its cell`).toEqual([]);
}

/** Expression for the buttons that extend beyond their table cell, which does not cut them off. */
const BEYOND_CELL = `[...document.querySelectorAll('td button, td a')].flatMap((control) => {
  const cell = control.closest('td').getBoundingClientRect();
  const { left, right, width } = control.getBoundingClientRect();
  return width === 0 || (left >= cell.left - 0.5 && right <= cell.right + 0.5)
    ? [] : [control.textContent + ' by ' + Math.max(right - cell.right, cell.left - left).toFixed(1) + ' px'];
})`;

/** Returns the elements beyond the window if the page scrolls sideways. */
export function overflowOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(TOO_WIDE);
}

/** Looks in several frames, because tooltips and toasts follow a narrower window with a delay. */
const TOO_WIDE = `(async () => {
  const look = () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return ['page', ...[...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 0.5)
      .map((element) => element.tagName.toLowerCase() + ' ' + (element.textContent ?? '').trim().slice(0, 40))
      .slice(0, 12)];
  };
  for (const until = performance.now() + 5_000; look().length > 0 && performance.now() < until;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return look();
})()`;

async function takePicture(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (SHOTS === undefined) return;
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage });
}

/** Waits for the heading of a page beside its alert: after a failed read the page still has its name. */
export function headed(title: string) {
  return async (page: Page): Promise<void> => {
    await page.getByRole('alert').waitFor();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  };
}

/** Fails requests to a path of the API, as during an outage. */
export function failing(pathOf: string | RegExp, method?: string) {
  return refusing(
    pathOf,
    503,
    {
      code: 'service_unavailable',
      message: 'The service is not available.',
    },
    method,
  );
}

/** Refuses requests to a path of the API, as for a member whose role is too low. */
export function forbidding(pathOf: string | RegExp) {
  return refusing(pathOf, 403, { code: 'forbidden', message: 'Your role does not allow this.' });
}

/** Refuses requests to a path of the API with a status and an error, optionally those of one method only. */
export function refusing(
  pathOf: string | RegExp,
  status: number,
  error: { readonly code: string; readonly message: string },
  method?: string,
) {
  return (page: Page) =>
    page.route(matcher(pathOf), (route) => {
      if (method !== undefined && route.request().method() !== method) return route.fallback();
      return route.fulfill({
        status,
        contentType: 'application/json',
        // Pages retry after an outage, and need not wait for that here.
        headers: { 'Retry-After': '0' },
        body: JSON.stringify({ error, requestId: '6b2f0a3e-5d0c-4a43-9d7e-2f6f6c0a9b11' }),
      });
    });
}

/**
 * Refuses requests of a method to a path of the API once the returned function is called, so that a page can be seen
 * while it waits.
 */
export async function refusingLater(page: Page, pathOf: string | RegExp, method: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(matcher(pathOf), async (route) => {
    if (route.request().method() !== method) return route.fallback();
    await promise;
    return route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({ error: { code: 'forbidden', message: 'Your role does not allow this.' } }),
    });
  });
  return resolve;
}

/** Delays the responses to requests for a path of the API. */
export function holding(pathOf: string | RegExp) {
  return (page: Page) => page.route(matcher(pathOf), () => undefined);
}

function matcher(pathOf: string | RegExp) {
  return (url: URL) => (typeof pathOf === 'string' ? url.pathname === pathOf : pathOf.test(url.pathname));
}

/** Writes a page that shows all pictures. */
async function writeIndex(): Promise<void> {
  if (SHOTS === undefined) return;
  await mkdir(SHOTS, { recursive: true });
  const names = (await readdir(SHOTS)).filter((name) => name.endsWith('.png')).toSorted();
  const groups = Map.groupBy(names, (name) => name.replace(/-(1280|360)-(light|dark)\.png$/, ''));
  const sections = [...groups].map(([name, files]) => {
    const pictures = files
      .map((file) => `<a href="${file}"><img loading="lazy" src="${file}" alt="${file}"></a>`)
      .join('');
    return `<h2>${name}</h2><div>${pictures}</div>`;
  });
  const style =
    'body{font:14px system-ui;margin:24px;background:#888}div{display:flex;gap:12px;align-items:start}img{max-height:640px;max-width:40vw}';
  await writeFile(
    path.join(SHOTS, 'index.html'),
    `<!doctype html><meta charset="utf-8"><title>Dashboard</title><style>${style}</style>${sections.join('')}`,
  );
}
