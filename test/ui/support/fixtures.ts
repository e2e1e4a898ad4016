import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { expect, test as base, type TestContext } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { loadConfig, type Config } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { PATIENCE_MS } from '#test/support/properties.ts';
import { sharedService, startService, type ServiceOptions } from '#test/support/service.ts';
import { createDashboard } from '../../../ui/server/app.ts';
import { readFiles, serveFiles, type BuiltFiles } from '../../../ui/server/files.ts';
import { listen } from '../../../ui/server/listen.ts';
import { buildLocked, DIST } from './build.ts';
import { launchChromium } from './chromium.ts';
import { startFakeApi, type FakeApi } from './fake-api.ts';
import { cookiesOf } from './session.ts';
import { FAILED_SHOTS } from './shots.ts';
import { watchPage, type Watched } from './watched.ts';

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

export interface VisitOptions {
  /** The signed-in person. Default none. */
  readonly as?: Person;
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

/** Opens a page in a browser window of its own. */
export type Visit = (target: string, options?: VisitOptions) => Promise<Watched>;

/** Files of a process share a browser. Files without configuration of their own also share a service. */
const shared: { api?: Promise<FakeApi>; browser?: Promise<Browser>; port?: Promise<number> } = {};

/**
 * Makes tests with the whole service, its dashboard and a real browser, each started on first use. A person's session
 * comes from the API, so that only the tests of the sign-in use its form.
 */
export function dashboardTest(options: Pick<ServiceOptions, 'env'> = {}) {
  return base
    .extend('uiPort', { scope: 'file' }, () => {
      if (options.env !== undefined) return freePort();
      return (shared.port ??= freePort());
    })
    .extend('service', { scope: 'file' }, async ({ uiPort }, { onCleanup }) => {
      const env = {
        UI_ORIGIN: `http://localhost:${uiPort}`,
        TEMPORAL_UI_URL: 'https://temporal.example.com/',
        ...options.env,
      };
      if (options.env === undefined) return sharedService({ worker: true, env });
      const service = await startService({ worker: true, env });
      onCleanup(() => service.close());
      return service;
    })
    .extend('dashboard', { scope: 'file' }, async ({ service, uiPort }, { onCleanup }) => {
      const dashboard = await startDashboard(service, uiPort);
      onCleanup(() => dashboard.close());
      return dashboard;
    })
    .extend(
      'browser',
      { scope: 'file' },
      ({ uiPort: _port }): Promise<Browser> => (shared.browser ??= launchChromium()),
    )
    .extend('person', { scope: 'file' }, ({ service }) => signUp(service))
    .extend('visit', openWindows);
}

/**
 * Makes tests of pages in given states: the built dashboard in a real browser, with a fake API whose answers a test
 * sets by `api.serve`.
 */
export function pageTest() {
  const test = base
    .extend('api', { scope: 'file' }, (): Promise<FakeApi> => (shared.api ??= startFakeApi()))
    .extend('dashboard', { scope: 'file' }, async ({ api }, { onCleanup }) => {
      const port = await freePort();
      const config = { UI_ORIGIN: `http://localhost:${port}`, COMMERCIAL_ACQUISITION_ENABLED: false };
      const dashboard = await startDashboard({ url: api.url, config }, port);
      onCleanup(() => dashboard.close());
      return dashboard;
    })
    .extend('browser', { scope: 'file' }, ({ api: _api }): Promise<Browser> => (shared.browser ??= launchChromium()))
    .extend('visit', openWindows);
  test.afterEach(({ api }) => expect(api.faults.splice(0)).toEqual([]));
  return test;
}

interface Windows {
  readonly browser: Browser;
  readonly dashboard: Dashboard;
  readonly task: Readonly<TestContext['task']>;
}

/** Returns a function that opens pages in windows, which close with the test. */
async function openWindows(
  { browser, dashboard, task }: Windows,
  { onCleanup }: { onCleanup: (close: () => Promise<void>) => void },
): Promise<Visit> {
  const contexts: BrowserContext[] = [];
  onCleanup(async () => {
    if (task.result?.state === 'fail') await keepLastSight(contexts, task.name);
    await Promise.all(contexts.map((context) => context.close()));
  });
  return async (target, { as: person, width = 1280, theme = 'light' } = {}) => {
    const context = await browser.newContext({
      baseURL: dashboard.url,
      viewport: sizeOf(width),
      colorScheme: theme,
      // Without a graphics card the processor would draw each frame of an animation.
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      // Each window has its own address, because limits of sign-ins are per address.
      extraHTTPHeaders: {
        'X-Forwarded-For': `203.0.${randomBytes(1)[0]}.${randomBytes(1)[0]}`,
      },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    contexts.push(context);
    if (person !== undefined) await context.addCookies(cookiesOf(person, dashboard.url));
    const watched = await watchPage(await context.newPage());
    await watched.page.goto(target);
    return watched;
  };
}

/** Returns the size of a window: that of a laptop, or of a phone. */
export function sizeOf(width: number) {
  return { width, height: width < 600 ? 740 : 860 };
}

/** Saves the last state of a failed test's pages as pictures, and prints where. */
async function keepLastSight(contexts: readonly BrowserContext[], name: string): Promise<void> {
  const pages = contexts.flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    const file = path.join(FAILED_SHOTS, `failed-${name.replaceAll(/\W+/g, '-')}-${index}.png`);
    await page.screenshot({ path: file }).catch(() => undefined);
    console.log(`${page.url()} showed ${file}`);
  }
}

/** The built files, which the files of a process read and compress once: this takes a second of CPU. */
let files: Promise<BuiltFiles> | undefined;

/** Serves the built pages in this process, before the API of the service. */
export async function startDashboard(
  service: {
    readonly url: string;
    readonly config: Pick<Config, 'UI_ORIGIN' | 'COMMERCIAL_ACQUISITION_ENABLED'>;
  },
  port: number,
  overrides: Record<string, string> = {},
  log = createLog({ level: 'silent', name: 'ui' }),
): Promise<Dashboard> {
  await buildLocked();
  const config = loadConfig('ui', {
    NODE_ENV: 'test',
    UI_ORIGIN: service.config.UI_ORIGIN,
    UI_PORT: String(port),
    API_URL: service.url,
    COMMERCIAL_ACQUISITION_ENABLED: String(service.config.COMMERCIAL_ACQUISITION_ENABLED),
    ...overrides,
  });
  files ??= readFiles(DIST);
  const app = createDashboard({ config, log, pages: serveFiles(await files) });
  const server = await listen(app.callback(), { host: '127.0.0.1', port: config.UI_PORT });
  return { url: `http://localhost:${server.port}`, close: () => server.close() };
}
