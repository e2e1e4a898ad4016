import { listRuns } from '#core/runs/index.ts';
import { row, sql, type Database } from '#lib/database/index.ts';
import { type Benchmark, compared, type Figure } from './harness/benchmark.ts';
import { loadResources, load, loadRoutines, loadRuns, routineId } from './harness/bulk.ts';
import { LISTS, NO_FILTER, RARE, type List } from './harness/lists.ts';
import { alternate, timed, explained } from './harness/measure.ts';
import { startService, type Service } from './harness/service.ts';

const RUNS = 1_000_000;
const ROUTINES = 2_000;
/** The count of everything else a project has: enough that the thousandth page is not the last. */
const OTHERS = 2_500;
const PAGE = 1_000;
const ATMOST = { atMost: 1.5 };

const lists: Benchmark = {
  about: `lists of a project with ${RUNS} runs over HTTP: the thousandth page against the first`,
  async run({ stack, long, note }) {
    const service = await startService(stack, { worker: false });
    try {
      const { projectId, databaseUrl } = service;
      await load(databaseUrl, async (db) => {
        await loadRoutines(db, { projectId, firstNumber: 0, count: ROUTINES });
        await loadRuns(db, { projectId, routines: ROUTINES, count: RUNS });
        await loadResources(db, { projectId, count: OTHERS });
      });
      const rounds = long ? 100 : 30;
      const figures: Figure[] = [];
      for (const list of LISTS) figures.push(await deepPage(service, list, rounds));
      const [first] = LISTS;
      for (const list of RARE) figures.push(await rareFilter(service, { first, list, rounds }));
      for (const [name, filter] of PLANNED) {
        const plans = await explained(databaseUrl, (db) =>
          listRuns(db, projectId, { ...NO_FILTER, ...filter }),
        );
        note(`The plan of ${name}:\n\n${plans.join('\n\n')}`);
      }
      return figures;
    } finally {
      await service.stop();
    }
  },
};

export default lists;

const PLANNED = [
  ['the runs of a project', {}],
  ['its failed ones', { state: 'failed' }],
  ['its manual ones', { trigger: 'manual' }],
  ['the cancelled ones of a routine', { routineId: routineId(0), state: 'cancelled' }],
] as const;

/** Measures the thousandth page against the first; a short list is read in smaller pages, so that it has so many. */
async function deepPage(service: Service, list: List, rounds: number): Promise<Figure> {
  const count = await countOf(service, list);
  const limit = Math.min(100, Math.floor(count / PAGE));
  const cursor = await idAt(service, list, limit * (PAGE - 1) - 1);
  const first = { ...list.query, limit: String(limit) };
  const deep = { ...first, cursor };
  await fetchPage(service, list, deep, limit);
  const times = await alternate(rounds, {
    value: () => timed(() => fetchPage(service, list, deep, limit)),
    baseline: () => timed(() => fetchPage(service, list, first, limit)),
  });
  return compared(`${list.name}: page ${PAGE} of ${limit}`, 'ms', times, ATMOST);
}

/** Measures the first page through a filter that few rows pass against the first page of all. */
async function rareFilter(
  service: Service,
  { first, list, rounds }: { first: List; list: List; rounds: number },
): Promise<Figure> {
  const times = await alternate(rounds, {
    value: () => timed(() => fetchPage(service, list, list.query)),
    baseline: () => timed(() => fetchPage(service, first, first.query)),
  });
  return compared(`${list.name}: page 1 against that of all`, 'ms', times, ATMOST);
}

async function fetchPage(
  service: Service,
  { path, session }: List,
  query: Readonly<Record<string, string>>,
  expected?: number,
): Promise<void> {
  const client = session === true ? service.session : service.client;
  const { status, data, body } = await client.get(
    `${path}?${new URLSearchParams(query).toString()}`,
  );
  if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`);
  if (expected !== undefined && data.length !== expected) {
    throw new Error(`${path} gave ${data.length} instead of ${expected}`);
  }
}

async function countOf(service: Service, list: List): Promise<number> {
  const found = await row<{ count: number }>(
    service.database,
    sql`select count(*) as count ${list.from(service.projectId)}`,
  );
  return found?.count ?? 0;
}

async function idAt(service: Service, list: List, offset: number): Promise<string> {
  const database: Database = service.database;
  const found = await row<{ id: string }>(
    database,
    sql`select id ${list.from(service.projectId)} order by id desc offset ${offset} limit 1`,
  );
  if (found === undefined) throw new Error(`${list.name} has no row at ${offset}`);
  return found.id;
}
