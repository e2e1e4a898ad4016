import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { freePort, isListening } from '#dev/ports.ts';
import { buildLocked } from '#test/ui/support/build.ts';
import { launchChromium } from '#test/ui/support/chromium.ts';
import { cookiesOf } from '#test/ui/support/session.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from './service.ts';
import type { Stack } from './stack.ts';
import { longestTask } from './trace.ts';

/** The built pages, served by a process of its own, and a real browser with a signed-in user. */
export interface Pages {
  readonly url: string;
  /** Opens a page in a browser that has loaded nothing before. */
  readonly first: (sight: Sight, as?: 'person' | 'stranger') => Promise<Seen>;
  /** Opens a page in a browser that has the files already, as after the first visit. */
  readonly again: (sight: Sight) => Promise<Seen>;
  /** Works with an open page in the same browser. */
  readonly use: <T>(path: string, work: (page: Page) => Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
}

/** An address, and the elements that show that its page is ready. */
export interface Sight {
  readonly path: string;
  readonly selector: string;
  /** Number of elements; 1 unless stated. */
  readonly count?: number;
}

export interface Seen {
  /** Time from the navigation to the frame that shows it. */
  readonly renderedMs: number;
  /** Time from the navigation until it is shown and the main thread has nothing to do. */
  readonly interactiveMs: number;
  readonly longestTaskMs: number;
  /** JavaScript that is still in use once garbage is collected. */
  readonly heapMb: number;
  /** Size of all responses, headers included. */
  readonly kilobytes: number;
}

export async function startPages(
  stack: Stack,
  service: Service,
  { UI_ORIGIN: origin, UI_PORT: port }: Readonly<Record<'UI_ORIGIN' | 'UI_PORT', string>>,
): Promise<Pages> {
  await buildLocked();
  const server = await stack.run('Dashboard', 'ui/server.ts', {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    UI_ORIGIN: origin,
    UI_HOST: '127.0.0.1',
    UI_PORT: port,
    API_URL: service.url,
  });
  while (!(await isListening(Number(port)))) await sleep(50);
  const browser = await launchChromium();
  const url = `http://localhost:${port}`;
  const cookies = cookiesOf(service, origin);
  const warm = await newContext(browser, url, cookies);
  return {
    url,
    async first(sight, as = 'person') {
      const context = await newContext(browser, url, as === 'person' ? cookies : []);
      try {
        return await look(browser, context, sight);
      } finally {
        await context.close();
      }
    },
    again: (sight) => look(browser, warm, sight),
    async use(path, work) {
      const page = await warm.newPage();
      await page.goto(path);
      try {
        return await work(page);
      } finally {
        await page.close();
      }
    },
    async stop() {
      await browser.close();
      await server.stop();
    },
  };
}

/** The origin of the pages, which the API has to know before they are served. */
export async function pagesEnvironment() {
  const port = await freePort();
  return { UI_ORIGIN: `https://localhost:${port}`, UI_PORT: String(port) };
}

async function newContext(
  browser: Browser,
  baseURL: string,
  cookies: ReturnType<typeof cookiesOf>,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL,
    locale: 'en-GB',
    viewport: { width: 1280, height: 860 },
  });
  await context.addCookies(cookies);
  return context;
}

async function look(browser: Browser, context: BrowserContext, sight: Sight): Promise<Seen> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const received = await countBytes(session);
  await page.addInitScript(WAIT, { selector: sight.selector, count: sight.count ?? 1 });
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-v8.gc'] });
  try {
    await page.goto(sight.path, { waitUntil: 'commit' });
    const times = await page.evaluate<Pick<Seen, 'renderedMs' | 'interactiveMs'>>('window.seen');
    const longestTaskMs = longestTask(await browser.stopTracing());
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return { ...times, longestTaskMs, heapMb: usedSize / 2 ** 20, kilobytes: received() / 1_024 };
  } finally {
    await page.close();
  }
}

/** Runs in the page, before its own scripts: notes when the sight is there, and when nothing is left to do. */
function WAIT({ selector, count }: { selector: string; count: number }): void {
  const global = globalThis as unknown as {
    seen: Promise<unknown>;
    document: { querySelectorAll(selector: string): { length: number } };
    requestAnimationFrame(work: () => void): void;
    requestIdleCallback(work: () => void): void;
  };
  global.seen = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${selector} never came`)), 60_000);
    const ask = () => {
      if (global.document.querySelectorAll(selector).length < count) {
        global.requestAnimationFrame(ask);
        return;
      }
      // The frame that shows it is drawn after this callback; the next one begins when it is on the screen.
      global.requestAnimationFrame(() => {
        const renderedMs = performance.now();
        global.requestIdleCallback(() => resolve({ renderedMs, interactiveMs: performance.now() }));
      });
    };
    global.requestAnimationFrame(ask);
  });
}

async function countBytes(session: CDPSession): Promise<() => number> {
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  return () => bytes;
}
