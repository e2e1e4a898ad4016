import type { Page } from 'playwright-core';
import { alternate } from './harness/alternate.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { pagesEnvironment, startPages, type Seen, type Sight } from './harness/browser.ts';
import { loadRunOfSteps } from './harness/bulk-steps.ts';
import { load, loadRoutines, loadRuns, routineId } from './harness/bulk.ts';
import { compared, plain, quantile, type Figure, type Target } from './harness/figures.ts';
import { startService, type Service } from './harness/service.ts';

const ROUTINES = { many: 200, few: 20 };
const STEPS = { many: 100, few: 10 };
/** Enough that each routine has its last ten. */
const RUNS_A_ROUTINE = 20;
/** Typed and taken back in the search of the long list. */
const KEYS = [...'routine'.split(''), ...'routine'.split('').fill('Backspace')];

const ui: Benchmark = {
  about: `the built pages in a real Chromium: the first load against a bare file of the same server, a list of ${ROUTINES.many} routines against ${ROUTINES.few}, a run of ${STEPS.many} steps against ${STEPS.few}`,
  async run({ stack, long }) {
    const environment = await pagesEnvironment();
    const { UI_ORIGIN } = environment;
    const service = await startService(stack, { worker: false, env: { UI_ORIGIN } });
    const pages = await startPages(stack, service, environment);
    try {
      const { sights, list } = await plant(service);
      // The first of each kind is V8's and Postgres', which compile and read from disk.
      await pages.first(sights.signIn, 'stranger');
      for (const sight of sights.inOrder) await pages.again(sight);
      const rounds = long ? 15 : 5;
      const first = await both(rounds, {
        value: () => pages.first(sights.signIn, 'stranger'),
        baseline: () => pages.first(sights.file),
      });
      const home = await both(rounds, {
        value: () => pages.first(sights.fewRoutines),
        baseline: () => pages.first(sights.file),
      });
      const routines = await both(rounds, {
        value: () => pages.again(sights.manyRoutines),
        baseline: () => pages.again(sights.fewRoutines),
      });
      const steps = await both(rounds, {
        value: () => pages.again(sights.manySteps),
        baseline: () => pages.again(sights.fewSteps),
      });
      const typed = await pages.use(list, typeAndClear);
      return [
        figure('sign-in, first load: interactive', 'ms', 'interactiveMs', first),
        figure('sign-in, first load: received', 'kB', 'kilobytes', first),
        figure('routines, first load: interactive', 'ms', 'interactiveMs', home),
        figure('routines, first load: received', 'kB', 'kilobytes', home),
        ...figuresOf(`list of ${ROUTINES.many} routines`, routines),
        plain(
          `list of ${ROUTINES.many}: key to next frame, p95`,
          'ms',
          [
            quantile(
              typed.toSorted((a, b) => a - b),
              0.95,
            ),
          ],
          { atMost: 100 },
        ),
        ...figuresOf(`run of ${STEPS.many} steps`, steps),
      ];
    } finally {
      await pages.stop();
      await service.stop();
    }
  },
};

export default ui;

interface Both {
  readonly value: readonly Seen[];
  readonly baseline: readonly Seen[];
}

async function both(
  rounds: number,
  { value, baseline }: { value: () => Promise<Seen>; baseline: () => Promise<Seen> },
): Promise<Both> {
  const seen: { value: Seen[]; baseline: Seen[] } = { value: [], baseline: [] };
  const keep = (kept: Seen[], measure: () => Promise<Seen>) => async () =>
    kept.push(await measure());
  await alternate(rounds, {
    value: keep(seen.value, value),
    baseline: keep(seen.baseline, baseline),
  });
  return seen;
}

function figuresOf(what: string, seen: Both): Figure[] {
  return [
    figure(`${what}: shown`, 'ms', 'renderedMs', seen, { atMost: 3 }),
    figure(`${what}: longest task`, 'ms', 'longestTaskMs', seen),
    figure(`${what}: heap`, 'MB', 'heapMb', seen, { atMost: 3 }),
  ];
}

function figure(
  what: string,
  unit: string,
  key: keyof Seen,
  { value, baseline }: Both,
  target?: Omit<Target, 'of'>,
): Figure {
  const of = (all: readonly Seen[]) => all.map((seen) => seen[key]);
  return compared(what, unit, { value: of(value), baseline: of(baseline) }, target);
}

/** Two projects, one with few routines and one with many, and two runs, one with few steps and one with many. */
async function plant(service: Service) {
  const { databaseUrl, projectId: few, organizationId, session } = service;
  const { data } = await session.post('/v1/projects', { organizationId, name: 'Large' });
  const many: string = data.id;
  const runs = { few: '', many: '' };
  await load(databaseUrl, async (db) => {
    await loadRoutines(db, { projectId: few, firstNumber: 0, count: ROUTINES.few });
    await loadRoutines(db, { projectId: many, firstNumber: ROUTINES.few, count: ROUTINES.many });
    for (const [projectId, routines, firstRoutine] of [
      [few, ROUTINES.few, 0],
      [many, ROUTINES.many, ROUTINES.few],
    ] as const) {
      const count = routines * RUNS_A_ROUTINE;
      await loadRuns(db, { projectId, routines, firstRoutine, count });
    }
    const of = { projectId: few, routineId: routineId(0) };
    runs.few = await loadRunOfSteps(db, { ...of, steps: STEPS.few });
    runs.many = await loadRunOfSteps(db, { ...of, steps: STEPS.many });
  });
  return { sights: sightsOf({ few, many }, runs), list: `/p/${many}/routines` };
}

type Sizes = Readonly<Record<'few' | 'many', string>>;

function sightsOf(projects: Sizes, runs: Sizes) {
  const row = '[aria-label="Routines"] tbody svg[role=img]';
  const step = '[aria-label="Steps"] > li';
  const file = { path: '/theme.js', selector: 'body' };
  const signIn = { path: '/sign-in', selector: 'form button[type=submit]' };
  const fewRoutines = { path: `/p/${projects.few}/routines`, selector: row, count: ROUTINES.few };
  const manyRoutines = {
    path: `/p/${projects.many}/routines`,
    selector: row,
    count: ROUTINES.many,
  };
  const fewSteps = {
    path: `/p/${projects.few}/runs/${runs.few}`,
    selector: step,
    count: STEPS.few,
  };
  const manySteps = {
    path: `/p/${projects.few}/runs/${runs.many}`,
    selector: step,
    count: STEPS.many,
  };
  const inOrder: Sight[] = [fewRoutines, manyRoutines, fewSteps, manySteps];
  return { file, signIn, fewRoutines, manyRoutines, fewSteps, manySteps, inOrder };
}

/** Types into the search of the list, and takes it back; gives the milliseconds from each key to the next frame. */
async function typeAndClear(page: Page): Promise<number[]> {
  const search = page.getByRole('searchbox');
  await search.waitFor();
  await page.getByRole('row').nth(ROUTINES.many).waitFor();
  await page.evaluate(`window.keys = [];
    new PerformanceObserver((list) => window.keys.push(...list.getEntries()
      .filter(({ name }) => name === 'keydown').map(({ duration }) => duration)))
      .observe({ type: 'event', durationThreshold: 16 })`);
  await search.focus();
  let pressed = 0;
  for (let turn = 0; turn < 3; turn += 1) {
    for (const key of KEYS) {
      await page.keyboard.press(key, { delay: 5 });
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
      pressed += 1;
    }
  }
  const slow = await page.evaluate<number[]>('window.keys');
  // The browser reports no key faster than 16 ms, so faster ones count as 16 ms.
  return [...slow, ...Array.from({ length: pressed - slow.length }, () => 16)];
}
