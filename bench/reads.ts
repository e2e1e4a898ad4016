import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { listRuns } from '#core/execution/runs/index.ts';
import { freePort, isListening } from '#dev/stack/ports.ts';
import { sql, type Database, type Sql } from '#lib/database/index.ts';
import { createRoutine } from '#test/support/routines.ts';
import { type Benchmark, type Benchmarks, compared, type Figure, plain } from './harness/benchmark.ts';
import { loadResources, load, loadRoutines, loadRuns, routineId } from '#test/support/given/bulk.ts';
import { alternate, cpuSeconds, timed } from './harness/measure.ts';
import { explained } from '#test/support/plans.ts';
import { startService, type Service } from './harness/service.ts';

const CONNECTIONS = 16;
/** Number of routines that are read in turn, so that successive requests read different rows. */
const IN_TURN = 100;

const routineRead: Benchmark = {
  about: `GET /v1/routines/:id with an API key, ${CONNECTIONS} connections, against a bare Koa route with one indexed select`,
  async run({ stack, service: shared, long }) {
    const service = await shared();
    const routineIds: string[] = [];
    while (routineIds.length < IN_TURN) routineIds.push(await createRoutine(service.client));
    const port = await freePort();
    const bare = await stack.run('Bare route', 'bench/bare/route.ts', {
      DATABASE_URL: service.databaseUrl,
      PORT: String(port),
    });
    try {
      while (!(await isListening(port))) await sleep(50);
      // Take many short turns: a shared machine changes its speed within seconds, and both measurements of a pair need
      // the same speed.
      const seconds = long ? 2 : 1;
      const read = () =>
        requestsPerSecond(
          routineIds.map((id) => `${service.url}/v1/routines/${id}`),
          seconds,
          { authorization: service.authorization },
        );
      const select = () =>
        requestsPerSecond(
          routineIds.map((id) => `http://127.0.0.1:${port}/routines/${id}`),
          seconds,
        );
      await read();
      await select();
      const rounds = await alternate(long ? 45 : 21, { value: read, baseline: select });
      return [compared('reads a second', '/s', rounds, { atLeast: 0.6 })];
    } finally {
      await bare.stop();
    }
  },
};

const mcpCall: Benchmark = {
  about: 'read_routine over /mcp against GET /v1/routines/:id: CPU time of the API for a call, one at a time',
  async run({ service: shared, long }) {
    const { url, client, authorization, api } = await shared();
    const id = await createRoutine(client);
    const headers = {
      Authorization: authorization,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'read_routine',
    };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { _meta, name: 'read_routine', arguments: { routineId: id } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const millisecondsOf = (work: () => Promise<Response>) => async () => {
      const before = await cpuSeconds(api.pid);
      for (let call = 0; call < CALLS; call += 1) {
        const response = await work();
        if (!(await response.text()).includes(id)) throw new Error('a call failed');
      }
      return ((await cpuSeconds(api.pid)) - before) * (1_000 / CALLS);
    };
    const rounds = await alternate(long ? 15 : 7, {
      value: millisecondsOf(() => fetch(`${url}/mcp`, { method: 'POST', headers, body })),
      baseline: millisecondsOf(() => fetch(`${url}/v1/routines/${id}`, { headers })),
    });
    const beyond = rounds.value.map((value, at) => value - (rounds.baseline[at] ?? 0));
    return [
      compared('call', 'ms CPU', rounds),
      plain('call, beyond the same by REST', 'ms CPU', beyond, { atMost: 1 }),
    ];
  },
};

const CALLS = 300;

/** Measures requests per second. Each connection requests the addresses in a circle from a random start. */
async function requestsPerSecond(
  urls: readonly string[],
  seconds: number,
  headers: Record<string, string> = {},
): Promise<number> {
  const [url = ''] = urls;
  const paths = urls.map((address) => ({ path: new URL(address).pathname }));
  const result = await autocannon({
    url,
    headers,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(client) {
      const first = randomInt(paths.length);
      client.setRequests([...paths.slice(first), ...paths.slice(0, first)]);
    },
  });
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${failed} of the requests to ${url} failed`);
  return result.requests.total / result.duration;
}

const RUNS = 1_000_000;
const ROUTINES = 2_000;
/** Rows of each list of the project except runs and routines: enough for `PAGE` pages. */
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
        const plans = await explained(databaseUrl, (db) => listRuns(db, projectId, { ...NO_FILTER, ...filter }));
        note(`The plan of ${name}:\n\n${plans.join('\n\n')}`);
      }
      return figures;
    } finally {
      await service.stop();
    }
  },
};

const PLANNED = [
  ['the runs of a project', {}],
  ['its failed ones', { state: 'failed' }],
  ['its manual ones', { trigger: 'manual' }],
  ['the cancelled ones of a routine', { routineId: routineId(0), state: 'cancelled' }],
] as const;

/**
 * Measures the thousandth page against the first. A list with few rows is read in smaller pages, so that it has a
 * thousand pages.
 */
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
  const { status, data, body } = await client.get(`${path}?${new URLSearchParams(query).toString()}`);
  if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`);
  if (expected !== undefined && data.length !== expected) {
    throw new Error(`${path} gave ${data.length} instead of ${expected}`);
  }
}

async function countOf(service: Service, list: List): Promise<number> {
  const found = await service.database.row<{
    count: number;
  }>`select count(*) as count ${list.from(service.projectId)}`;
  return found?.count ?? 0;
}

async function idAt(service: Service, list: List, offset: number): Promise<string> {
  const database: Database = service.database;
  const found = await database.row<{
    id: string;
  }>`select id ${list.from(service.projectId)} order by id desc offset ${offset} limit 1`;
  if (found === undefined) throw new Error(`${list.name} has no row at ${offset}`);
  return found.id;
}

/** A list of the API to measure, with the filter of its request. */
export interface List {
  readonly name: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The rows of the list, as `from … where …`, from which the cursor of a page is read. */
  readonly from: (projectId: string) => Sql;
  /** Set for a list that only a session may read. */
  readonly session?: true;
}

const OF_ROUTINE = `/v1/routines/${routineId(0)}`;

function runs(name: string, query: Readonly<Record<string, string>> = {}): List {
  return {
    name,
    path: '/v1/runs',
    query,
    from: (projectId) => sql`from runs where project_id = ${projectId} ${filtered(query)}`,
  };
}

function runsOfRoutine(name: string, query: Readonly<Record<string, string>> = {}): List {
  return {
    name,
    path: `${OF_ROUTINE}/runs`,
    query,
    from: (projectId) => sql`
      from runs where project_id = ${projectId} and routine_id = ${routineId(0)} ${filtered(query)}
    `,
  };
}

function filtered({ state = null, trigger = null }: Readonly<Record<string, string | null>>): Sql {
  return sql`
    and (${state}::text is null or state = ${state}) and (${trigger}::text is null or trigger = ${trigger})
  `;
}

/** All lists of a project. The others are compared with the first. */
export const LISTS: readonly [List, ...List[]] = [
  runs('runs'),
  runs('runs, failed', { state: 'failed' }),
  runsOfRoutine('runs of a routine'),
  runsOfRoutine('runs of a routine, failed', { state: 'failed' }),
  {
    name: 'routines',
    path: '/v1/routines',
    query: {},
    from: (projectId) => sql`from routines where project_id = ${projectId}`,
  },
  {
    name: 'skills',
    path: '/v1/skills',
    query: {},
    from: (projectId) => sql`from skills where project_id = ${projectId}`,
  },
  {
    name: 'API keys',
    path: '/v1/api-keys',
    query: {},
    session: true,
    from: (projectId) => sql`from api_keys where project_id = ${projectId}`,
  },
  {
    name: 'connections',
    path: '/v1/connections',
    query: {},
    from: (projectId) => sql`from connections where project_id = ${projectId}`,
  },
  {
    name: 'tools of a routine',
    path: `${OF_ROUTINE}/tools`,
    query: {},
    from: (projectId) => sql`
      from tool_policies where project_id = ${projectId} and routine_id = ${routineId(0)}
    `,
  },
];

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** Filters that few runs pass, and a window of time deep in the past. */
export const RARE: readonly List[] = [
  runs('runs, running', { state: 'running' }),
  runs('runs, manual', { trigger: 'manual' }),
  runsOfRoutine('runs of a routine, manual', { trigger: 'manual' }),
  runs('runs, cancelled', { state: 'cancelled' }),
  runsOfRoutine('runs of a routine, cancelled', { state: 'cancelled' }),
  runs('runs of a week, a week ago', { since: daysAgo(9), until: daysAgo(7) }),
];

/** Lists every run, a hundred on a page. */
export const NO_FILTER = {
  routineId: undefined,
  state: undefined,
  trigger: undefined,
  outcome: undefined,
  backfillId: undefined,
  since: undefined,
  until: undefined,
  page: { limit: 100, after: undefined },
} as const;

export default { 'routine-read': routineRead, 'mcp-call': mcpCall, lists } satisfies Benchmarks;
