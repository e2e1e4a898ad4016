import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';

/** A page whose hidden faults are recorded. */
export interface Watched {
  readonly page: Page;
  /** Violations of the content security policy, errors and warnings of the console, and errors of scripts. */
  readonly complaints: readonly string[];
  /** Waits until nothing is loading. A stream of events does not count, because it never ends. */
  readonly settled: () => Promise<void>;
  /** Runs axe-core, and returns its serious and critical findings. */
  readonly audit: (excused?: readonly string[]) => Promise<string[]>;
  /** Expects no complaints and no findings. */
  readonly expectClean: () => Promise<void>;
}

/** Starts to watch a page that is not open yet. */
export async function watchPage(page: Page): Promise<Watched> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const type = message.type();
    if (type !== 'error' && type !== 'warning') return;
    // The browser writes a line for every response of 400 and above, and pages show such errors themselves.
    if (message.text().startsWith('Failed to load resource')) return;
    complaints.push(`${type}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`fault: ${error.message}`));
  await page.exposeFunction('tellViolation', (text: string) => complaints.push(`policy: ${text}`));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    window.tellViolation(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile))`);
  // Keep the browser's callbacks: the clock of a test replaces them by timers, which run even in a busy page.
  await page.addInitScript(`window.own = {
    frame: requestAnimationFrame.bind(window), idle: requestIdleCallback.bind(window) }`);
  const loaded = watchRequests(page);
  const watched: Watched = {
    page,
    complaints,
    async settled() {
      // Every page has this element and marks it as busy while it waits. Before it exists, nothing may be loading yet.
      const busy = page.locator('[aria-busy="true"]:not(button)').first();
      await page.locator('h1').first().waitFor();
      await busy.waitFor({ state: 'detached' });
      // Load again afterwards, because the last drawn part may need another chunk or font.
      await loaded();
      await busy.waitFor({ state: 'detached' });
      await page.evaluate('document.fonts.ready.then(() => undefined)');
    },
    audit: (excused = []) => audit(page, excused),
    async expectClean() {
      expect(await audit(page, [])).toEqual([]);
      expect(complaints).toEqual([]);
    },
  };
  return watched;
}

/** Lets the page draw its last response and start the requests that follow, twice, because these are reported late. */
const IDLE = `(async () => {
  for (let round = 0; round < 2; round += 1) {
    await new Promise((resolve) => own.frame(resolve));
    await new Promise((resolve) => own.idle(resolve, { timeout: 5_000 }));
  }
})()`;

/**
 * Returns a function that waits until the document has no open request and starts no further one. The browser does not
 * report the end of every request of a former document.
 */
function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let opening: Request | undefined;
  let changes = 0;
  const change = (happen: (request: Request) => void) => (request: Request) => {
    if (request.url().endsWith('/events')) return;
    happen(request);
    changes += 1;
  };
  page.on(
    'request',
    change((request) => {
      open.add(request);
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) opening = request;
    }),
  );
  const ended = change((request) => open.delete(request));
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  page.on('framenavigated', (frame) => {
    // A change of address within a document requests no document, and neither does an empty document.
    if (frame !== page.mainFrame() || (opening === undefined && frame.url() !== 'about:blank')) return;
    for (const request of open) if (request !== opening) open.delete(request);
    opening = undefined;
  });
  return async () => {
    await page.waitForLoadState();
    const stillOpen = () => [...open].map((request) => request.url());
    for (let seen = -1; seen !== changes;) {
      await expect.poll(stillOpen, { interval: 25 }).toEqual([]);
      seen = changes;
      await page.evaluate(IDLE);
    }
  };
}

/**
 * Waits until all fading has ended, because half-faded text has too little contrast. Waits repeatedly, because the end
 * of a transition can start another one on an element that inherits its colour.
 */
const FADED = `(async () => {
  for (let idle = 0; idle < 2;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const running = document.getAnimations().filter(({ effect, playState }) =>
      effect?.getComputedTiming().endTime !== Infinity && playState !== 'finished');
    idle = running.length === 0 ? idle + 1 : 0;
    await Promise.allSettled(running.map(({ finished }) => finished));
  }
})()`;

const GRAVE: ReadonlySet<string> = new Set(['serious', 'critical']);

let axe: Promise<string> | undefined;

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary: string;
  }[];
}

async function audit(page: Page, excused: readonly string[]): Promise<string[]> {
  axe ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger, to which the page's content security policy does not apply.
  if (!(await page.evaluate<boolean>('window.axe !== undefined'))) await page.evaluate(await axe);
  await page.evaluate(FADED);
  const findings = await page.evaluate<Finding[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return findings
    .filter(({ id, impact }) => GRAVE.has(impact) && !excused.includes(id))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    );
}
