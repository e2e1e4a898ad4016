import { listRuns } from '#core/runs/index.ts';
import { row, sql, type Database } from '#lib/database/index.ts';
import { encodeCursor } from '#lib/paging.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { alternate, timed } from './harness/alternate.ts';
import { load, loadRoutines, loadRuns, routineId } from './harness/bulk.ts';
import { explained } from './harness/explain.ts';
import { compared, type Figure } from './harness/figures.ts';
import { startService, type Service } from './harness/service.ts';

const RUNS = 1_000_000;
const ROUTINES = 2_000;
const PAGE = 1_000;
const ATMOST = { atMost: 1.5 };

interface List {
  readonly name: string;
  readonly path: string;
  readonly table: 'runs' | 'routines';
  readonly query: Readonly<Record<string, string>>;
}

const lists: Benchmark = {
  about: `lists of a project with ${RUNS} runs over HTTP: the thousandth page against the first`,
  async run({ stack, long, note }) {
    const service = await startService(stack, { worker: false });
    try {
      const { projectId, databaseUrl } = service;
      await load(databaseUrl, async (db) => {
        await loadRoutines(db, { projectId, firstNumber: 0, count: ROUTINES });
        await loadRuns(db, { projectId, routines: ROUTINES, count: RUNS });
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

const ofRoutine = `/v1/routines/${routineId(0)}/runs`;
const LISTS: readonly [List, ...List[]] = [
  { name: 'runs', path: '/v1/runs', table: 'runs', query: {} },
  { name: 'runs, failed', path: '/v1/runs', table: 'runs', query: { state: 'failed' } },
  { name: 'runs of a routine', path: ofRoutine, table: 'runs', query: {} },
  { name: 'runs of a routine, failed', path: ofRoutine, table: 'runs', query: { state: 'failed' } },
  { name: 'routines', path: '/v1/routines', table: 'routines', query: {} },
];

const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** Filters that few runs pass, and a window of time deep in the past. */
const RARE: readonly List[] = [
  { name: 'runs, running', path: '/v1/runs', table: 'runs', query: { state: 'running' } },
  { name: 'runs, manual', path: '/v1/runs', table: 'runs', query: { trigger: 'manual' } },
  {
    name: 'runs of a routine, manual',
    path: ofRoutine,
    table: 'runs',
    query: { trigger: 'manual' },
  },
  { name: 'runs, cancelled', path: '/v1/runs', table: 'runs', query: { state: 'cancelled' } },
  {
    name: 'runs of a routine, cancelled',
    path: ofRoutine,
    table: 'runs',
    query: { state: 'cancelled' },
  },
  {
    name: 'runs of a week, a week ago',
    path: '/v1/runs',
    table: 'runs',
    query: { since: dayAgo(9), until: dayAgo(7) },
  },
];

const NO_FILTER = {
  routineId: undefined,
  state: undefined,
  trigger: undefined,
  since: undefined,
  until: undefined,
  page: { limit: 100, after: undefined },
} as const;

const PLANNED = [
  ['the runs of a project', {}],
  ['its failed ones', { state: 'failed' }],
  ['its manual ones', { trigger: 'manual' }],
  ['the cancelled ones of a routine', { routineId: routineId(0), state: 'cancelled' }],
] as const;

/** The thousandth page against the first; of a short list in smaller pages, so that it has so many. */
async function deepPage(service: Service, list: List, rounds: number): Promise<Figure> {
  const count = await countOf(service, list);
  const limit = Math.min(100, Math.floor(count / PAGE));
  const cursor = encodeCursor(await idAt(service, list, limit * (PAGE - 1) - 1));
  const first = { ...list.query, limit: String(limit) };
  const deep = { ...first, cursor };
  await fetchPage(service, list.path, deep, limit);
  const times = await alternate(rounds, {
    value: () => timed(() => fetchPage(service, list.path, deep, limit)),
    baseline: () => timed(() => fetchPage(service, list.path, first, limit)),
  });
  return compared(`${list.name}: page ${PAGE} of ${limit}`, 'ms', times, ATMOST);
}

/** The first page through a filter that few rows pass, against the first page of all. */
async function rareFilter(
  service: Service,
  { first, list, rounds }: { first: List; list: List; rounds: number },
): Promise<Figure> {
  const times = await alternate(rounds, {
    value: () => timed(() => fetchPage(service, list.path, list.query)),
    baseline: () => timed(() => fetchPage(service, first.path, first.query)),
  });
  return compared(`${list.name}: page 1 against that of all`, 'ms', times, ATMOST);
}

async function fetchPage(
  { client }: Service,
  path: string,
  query: Readonly<Record<string, string>>,
  expected?: number,
): Promise<void> {
  const { status, data, body } = await client.get(
    `${path}?${new URLSearchParams(query).toString()}`,
  );
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  if (expected !== undefined && data.length !== expected) {
    throw new Error(`${path} gave ${data.length} instead of ${expected}`);
  }
}

function condition(service: Service, { table, path, query }: List) {
  const ofOneRoutine = path === ofRoutine ? routineId(0) : null;
  return table === 'routines'
    ? sql`from routines where project_id = ${service.projectId}`
    : sql`
        from runs where project_id = ${service.projectId}
          and (${ofOneRoutine}::text is null or routine_id = ${ofOneRoutine})
          and (${query['state'] ?? null}::text is null or state = ${query['state'] ?? null})
          and (${query['trigger'] ?? null}::text is null or trigger = ${query['trigger'] ?? null})
      `;
}

async function countOf(service: Service, list: List): Promise<number> {
  const found = await row<{ count: number }>(
    service.database,
    sql`select count(*) as count ${condition(service, list)}`,
  );
  return found?.count ?? 0;
}

async function idAt(service: Service, list: List, offset: number): Promise<string> {
  const database: Database = service.database;
  const found = await row<{ id: string }>(
    database,
    sql`select id ${condition(service, list)} order by id desc offset ${offset} limit 1`,
  );
  if (found === undefined) throw new Error(`${list.name} has no row at ${offset}`);
  return found.id;
}
