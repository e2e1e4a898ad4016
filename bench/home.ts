import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext } from 'playwright-core';
import { freePort, isListening } from '#dev/stack/ports.ts';
import type { Db } from '#lib/database/index.ts';
import { buildLocked } from '#test/ui/support/build.ts';
import { launchChromium } from '#test/ui/support/chromium.ts';
import { HOSTILE, longReport } from '#test/ui/support/reports.ts';
import { cookiesOf } from '#test/ui/support/session.ts';
import { type Benchmark, type Benchmarks, compared, type Figure, plain } from './harness/benchmark.ts';
import { load, loadRoutines, loadRuns } from '#test/support/given/bulk.ts';
import { alternate } from './harness/measure.ts';
import { startService, type Service } from './harness/service.ts';

const ROUTINES = 500;
const RUNS = 50_000;
/** Number of the newest runs that get a report, more than Home reads. Each report differs from the previous one. */
const REPORTED = 2_000;

const home: Benchmark = {
  about: `Home of a project with ${ROUTINES} routines and ${RUNS} runs in a browser, cold and warm, against the sign-in page of the same files; then hostile results against one of a line`,
  async run({ stack, long, note }) {
    await buildLocked();
    const service = await startService(stack, { worker: false });
    const port = await freePort();
    const dashboard = await stack.run('Dashboard', 'ui/server.ts', {
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
      UI_ORIGIN: service.env['UI_ORIGIN'] ?? '',
      UI_HOST: '127.0.0.1',
      UI_PORT: String(port),
      API_URL: service.url,
    });
    const browser = await launchChromium();
    try {
      const { projectId, databaseUrl } = service;
      let results: readonly Planted[] = [];
      await load(databaseUrl, async (db) => {
        await loadRoutines(db, { projectId, firstNumber: 0, count: ROUTINES });
        await loadRuns(db, { projectId, routines: ROUTINES, count: RUNS });
        await report(db, projectId);
        results = await plant(db, projectId);
      });
      while (!(await isListening(port))) await sleep(50);
      const at: Visitor = { browser, service, url: `http://localhost:${port}` };
      const rounds = long ? 21 : 9;
      return [...(await homeFigures(at, rounds, note)), ...(await hostileFigures(at, results, long ? 9 : 3))];
    } finally {
      await browser.close();
      await dashboard.stop();
      await service.stop();
    }
  },
};

interface Visitor {
  readonly browser: Browser;
  readonly service: Service;
  readonly url: string;
}

const SECOND = { of: 'value', atMost: 1_000 } as const;

async function homeFigures(at: Visitor, rounds: number, note: (text: string) => void): Promise<Figure[]> {
  const ofHome = { path: `/p/${at.service.projectId}`, shown: HOME_SHOWN };
  const ofSignIn = { path: '/sign-in', shown: SIGN_IN_SHOWN };
  const once = async (page: Shown, signedIn: boolean) => {
    const context = await open(at, signedIn);
    const { ms } = await visit(context, page).finally(() => context.close());
    return ms;
  };
  // Open the page once first: the server and Postgres are warm in each round, and only the browser is cold.
  await once(ofHome, true);
  const cold = await alternate(rounds, {
    value: () => once(ofHome, true),
    baseline: () => once(ofSignIn, false),
  });
  const [signedIn, signedOut] = [await open(at, true), await open(at, false)];
  // Visit three times: the second visit writes the compiled scripts into the cache, and the third visit uses them.
  for (let before = 0; before < 3; before += 1) {
    await visit(signedIn, ofHome);
    await visit(signedOut, ofSignIn);
  }
  const warm = await alternate(rounds, {
    value: async () => (await visit(signedIn, ofHome)).ms,
    baseline: async () => (await visit(signedOut, ofSignIn)).ms,
  });
  note(`What a warm Home waits for, in ms from its beginning:\n${await waterfall(signedIn, ofHome)}`);
  await Promise.all([signedIn.close(), signedOut.close()]);
  return [
    compared('Home interactive, nothing cached', 'ms', cold, SECOND),
    compared('Home interactive, files cached', 'ms', warm, SECOND),
  ];
}

const BLOCK = { of: 'value', atMost: 200 } as const;

/**
 * Measures the time from the response with a result until the open page shows it, and how long the page's thread was
 * blocked.
 */
async function hostileFigures(at: Visitor, results: readonly Planted[], rounds: number): Promise<Figure[]> {
  const context = await open(at, true);
  const runs = `/p/${at.service.projectId}/runs`;
  const [before, ...others] = results;
  const pages = others.map(({ name, runId, sees }) => ({
    name,
    path: `${runs}/${runId}`,
    shown: `/${sees}/.test(document.querySelector('main')?.textContent)`,
    opened: { from: `${runs}/${before?.runId}`, response: `/v1/runs/${runId}` },
  }));
  const [baseline, ...hostile] = pages;
  if (baseline === undefined) throw new Error('no result was planted');
  const figures: Figure[] = [];
  try {
    for (const value of hostile) {
      const { name } = value;
      const blocks: number[] = [];
      await visit(context, baseline);
      await visit(context, value);
      const times = await alternate(rounds, {
        value: async () => {
          const { ms, block } = await visit(context, value);
          blocks.push(block);
          return ms;
        },
        baseline: async () => (await visit(context, baseline)).ms,
      });
      figures.push(
        compared(`${name}: shown after`, 'ms', times, BLOCK),
        plain(`${name}: longest block`, 'ms', blocks, BLOCK),
      );
    }
  } finally {
    await context.close();
  }
  return figures;
}

interface Planted {
  readonly name: string;
  readonly runId: string;
  /** Regular expression for the shown text of the result. */
  readonly sees: string;
}

/** The first page leads to the other pages; the second page is the baseline. */
const RESULTS = [
  { name: 'the page before', text: 'It rains.', sees: 'It rains' },
  { name: 'one line', text: 'It is mild and calm.', sees: 'It is mild and calm' },
  { name: '1 MB of nested quotes', text: '> '.repeat(500_000), sees: 'Shown as plain text' },
  ...HOSTILE.map(({ name, text, sees }) => ({
    name,
    text,
    sees:
      typeof sees === 'string'
        ? sees.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        : sees.source.replace(/^\^/, ''),
  })),
  { name: 'a report of 60,000 words', text: longReport(60_000), sees: 'Part 2' },
];

/** Gives the newest succeeded runs the results of the list. */
async function plant(db: Db, projectId: string): Promise<readonly Planted[]> {
  const found = await db.rows<{
    id: string;
  }>`select id from runs where project_id = ${projectId} and state = 'succeeded'
    order by id desc limit ${RESULTS.length}`;
  const planted: Planted[] = [];
  for (const [index, { id }] of found.entries()) {
    const { name, text, sees } = RESULTS[index]!;
    await db.run`update runs set result = ${text} where id = ${id}`;
    planted.push({ name, runId: id, sees });
  }
  return planted;
}

/**
 * Gives each of the newest runs a report that differs from the previous one. Also gives one routine a webhook, which
 * completes the first steps.
 */
async function report(db: Db, projectId: string): Promise<void> {
  await db.run`
    update runs set result = replace(${longReport(600)}, '1.8 s', created_at::text)
    where state = 'succeeded' and id in (
      select id from runs where project_id = ${projectId} order by id desc limit ${REPORTED})
  `;
  await db.run`update routines set webhook_url = 'https://example.com/hook'
    where id = (select min(id) from routines where project_id = ${projectId})`;
}

/** A page, and the condition under which it counts as shown. */
interface Shown {
  readonly path: string;
  /** Expression that is true in the document once the page is shown. */
  readonly shown: string;
  /** Set for a page that is opened from another page of the dashboard. The time then counts from this response. */
  readonly opened?: { readonly from: string; readonly response: string };
}

const HOME_SHOWN = `document.querySelector('main [data-run]') !== null
  && document.querySelector('main [aria-busy="true"]') === null`;
const SIGN_IN_SHOWN = `document.querySelector('input[type=password]') !== null`;

/** Opens a browser that has cached nothing. */
async function open({ browser, service, url }: Visitor, signedIn: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 860 },
    reducedMotion: 'reduce',
  });
  if (signedIn) {
    // Make the cookies for https, as production does: the browser also sends them to this machine over http.
    const cookies = cookiesOf(service, url.replace('http:', 'https:'));
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, secure: true })));
  }
  return context;
}

interface Visited {
  /** Milliseconds until the page was drawn, and its thread free again. */
  readonly ms: number;
  /**
   * Longest task of the page's thread, in milliseconds; 0 if all tasks took less than 50, because the browser does not
   * report such tasks.
   */
  readonly block: number;
}

function visit(context: BrowserContext, shown: Shown): Promise<Visited> {
  return see(context, shown, 'window.seen');
}

async function see<Found>(context: BrowserContext, { path, shown, opened }: Shown, wanted: string): Promise<Found> {
  const page = await context.newPage();
  try {
    await page.addInitScript(WATCH);
    const watch = `window.seen = window.watch(() => ${shown}, ${JSON.stringify(opened?.response)});`;
    if (opened === undefined) {
      await page.addInitScript(watch);
      await page.goto(path, { waitUntil: 'commit' });
    } else {
      await page.goto(opened.from);
      await page.locator('.prose-text').waitFor();
      await page.evaluate(`performance.clearResourceTimings();
        ${watch}
        history.pushState({}, '', ${JSON.stringify(path)})`);
    }
    return await page.evaluate<Found>(wanted);
  } finally {
    await page.close();
  }
}

/** Runs in the page: resolves once the page shows its content and its thread is free again. */
const WATCH = `window.watch = async (isShown, response) => {
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: 'longtask', buffered: true });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!isShown()) await frame();
  await frame();
  await new Promise((resolve) => setTimeout(resolve));
  const end = performance.now();
  const from = response === undefined ? 0 : performance.getEntriesByType('resource')
    .find(({ name }) => new URL(name).pathname === response).responseEnd;
  // Wait a moment, because the browser reports long tasks a little later.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const during = tasks.filter(({ startTime, duration }) => startTime + duration > from && startTime < end);
  return { ms: end - from, block: Math.max(0, ...during.map(({ duration }) => duration)) };
};`;

/** Lists the requests of a page with the times between which each was under way. */
function waterfall(context: BrowserContext, shown: Shown): Promise<string> {
  return see(
    context,
    shown,
    `window.seen.then(({ ms }) => [
      ...performance.getEntriesByType('resource').map(({ name, startTime, responseEnd }) =>
        [startTime, responseEnd].map((at) => at.toFixed(0).padStart(5)).join('') + '  ' + new URL(name).pathname),
      ms.toFixed(0).padStart(10) + '  shown',
    ].join('\\n'))`,
  );
}

export default { home } satisfies Benchmarks;
