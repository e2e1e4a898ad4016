import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Benchmark, type Benchmarks, compared, plain, quantile, type Figure } from './harness/benchmark.ts';
import { loadRunning } from '#test/support/given/bulk.ts';
import { rateFor, cpuSeconds } from './harness/measure.ts';
import { residentMb, startService, type Service } from './harness/service.ts';
import { followAll, type Followers } from './harness/watch.ts';

const FOLLOWERS = 1_000;

/** Followers of one run, as many as an organization may have by default. */
const TOGETHER = 200;

/** Steps recorded per second, as many as fifty runs a second with two steps each record. */
const A_SECOND = 100;

const WRITERS = 16;

/** Pause between two queries of the bare connection: the shortest pause of the service. */
const BARE_PAUSE_MS = 20;

const events: Benchmark = {
  about: `${FOLLOWERS} followers over HTTP, ${A_SECOND} steps recorded a second: from the commit to the event, against a bare connection that asks every ${BARE_PAUSE_MS} ms`,
  async run({ stack, long, note }) {
    const service = await startService(stack, {
      worker: false,
      env: {
        EVENT_STREAMS_PER_CREDENTIAL: '10000',
        EVENT_STREAMS_PER_ORGANIZATION: '10000',
        EVENT_STREAMS_PER_PROCESS: '10000',
      },
    });
    const seconds = long ? 60 : 15;
    const asking = await ask(service);
    try {
      const loaded = await loadRunning(service, FOLLOWERS + 1);
      const [runIds, one] = [loaded.slice(1), loaded.slice(0, 1)];
      const unfollowed = await commitRate(service, runIds);
      const rest = await residentMb(service.api);
      const followers = await followAll(service, runIds);
      const atWork = await residentMb(service.api);
      const readCpu = () => Promise.all([cpuSeconds(service.api.pid), cpuSeconds(stack.postgresPid)]);
      const [apiBefore, postgresBefore] = await readCpu();
      await sleep(10_000);
      const [apiAfter, postgresAfter] = await readCpu();
      // A warm-up, because V8 compiles in the first seconds.
      await tellAll({
        service,
        followers,
        asking,
        runIds: runIds.slice(0, 5 * A_SECOND),
        seconds: 5,
      });
      const each = await tellAll({ service, followers, asking, runIds, seconds });
      const cost = await commitRate(service, runIds);
      await followers.close();
      const together = await followAll(
        service,
        Array.from({ length: TOGETHER }, () => one[0]!),
      );
      const all = await tellAll({
        service,
        followers: together,
        asking,
        runIds: one,
        seconds: 5,
        aSecond: 2,
      });
      await together.close();
      note(
        `Commits that change a run, ${WRITERS} writers: ${unfollowed.toFixed(0)} a second before anybody followed, ${cost.toFixed(0)} with all followed.`,
      );
      return [
        ...figuresOf('one run each', each),
        plain('API at rest, with all of them', '% of a core', [(apiAfter - apiBefore) * 10], AT_REST),
        plain('Postgres at rest', '% of a core', [(postgresAfter - postgresBefore) * 10], AT_REST),
        plain('API at work', 'ms CPU an event', [each.cpuMs]),
        plain('API memory', 'kB a follower', [((atWork - rest) * 1_024) / FOLLOWERS]),
        ...figuresOf(`${TOGETHER} of one run`, all),
      ];
    } finally {
      await asking.stop();
      await service.stop();
    }
  },
};

const AT_REST = { atMost: 5 };

interface Told {
  /** Milliseconds from the commit of a step to its event at each follower, sorted. */
  readonly times: readonly number[];
  /** Milliseconds from the commit of a step until a connection that only queries steps finds it, sorted. */
  readonly bare: readonly number[];
  readonly missing: number;
  readonly cpuMs: number;
}

function figuresOf(what: string, { times, bare, missing }: Told): Figure[] {
  const at = (part: number, target?: { atMost: number }) =>
    plain(`${what}, p${part * 100}`, 'ms', [quantile(times, part)], target);
  const both = (part: number) => ({
    value: [quantile(times, part)],
    baseline: [quantile(bare, part)],
  });
  return [
    compared(`${what}, p50`, 'ms', both(0.5)),
    compared(`${what}, p95 against bare`, 'ms', both(0.95)),
    at(0.95, { atMost: 100 }),
    at(0.99),
    plain(`${what}, events that did not come`, '', [missing], { atMost: 0 }),
  ];
}

interface Telling {
  readonly service: Service;
  readonly followers: Followers;
  readonly asking: Asking;
  readonly runIds: readonly string[];
  readonly seconds: number;
  readonly aSecond?: number;
}

/**
 * Records finished steps of one run after the other, and compares the time of each commit with the times at which
 * followers got the event. Each run has one more step, which stays unfinished.
 */
async function tellAll(telling: Telling): Promise<Told> {
  const { service, followers, asking, runIds, seconds, aSecond = A_SECOND } = telling;
  const count = seconds * aSecond;
  const perRun = Math.ceil(count / runIds.length);
  const first = telling.followers.steps;
  telling.followers.steps += perRun;
  await service.database.query(
    `insert into steps (run_id, index, project_id, kind, state, model_id, started_at)
     select id, n, $1, 'tool', 'started', 'fixture/writer-small', now()
     from unnest($2::text[]) id, generate_series($3::integer, $4::integer) n
     on conflict do nothing`,
    [service.projectId, runIds, first, first + perRun],
  );
  // Analyze the table now, because autovacuum would do so within a minute.
  await service.database.query('analyze steps');
  followers.reset();
  const cpuBefore = await cpuSeconds(service.api.pid);
  const begun = performance.now();
  const committed = new Map<string, number>();
  const found = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(begun + (n * 1_000) / aSecond - performance.now(), 0));
    underWay.push(record(runIds[n % runIds.length]!, first + Math.floor(n / runIds.length)));
  }
  await Promise.all(underWay);
  await sleep(2_000);
  const cpuMs = ((await cpuSeconds(service.api.pid)) - cpuBefore) * 1_000;
  const heard = followers.heard();
  const times = heard.map(({ runId, index, at }) => at - committed.get(`${runId} ${index}`)!);
  const expected = count * (followers.count / runIds.length);
  const bare = [...found].map(([key, at]) => at - committed.get(key)!);
  return {
    times: times.toSorted((a, b) => a - b),
    bare: bare.toSorted((a, b) => a - b),
    missing: expected - heard.length,
    cpuMs: cpuMs / heard.length,
  };

  async function record(runId: string, index: number): Promise<void> {
    const key = `${runId} ${index}`;
    const told = asking.next(runId, index).then((at) => found.set(key, at));
    await service.database.query({
      name: 'record',
      text: `update steps set state = 'succeeded', finished_at = now() where run_id = $1 and index = $2`,
      values: [runId, index],
    });
    committed.set(key, performance.now());
    await told;
  }
}

/** Returns the commits a second that move a run back and forth between two open states. */
async function commitRate({ database }: Service, runIds: readonly string[]): Promise<number> {
  let n = 0;
  return rateFor(3, WRITERS, async () => {
    n += 1;
    const runId = runIds[n % runIds.length]!;
    await database.query({
      name: 'change',
      text: `update runs set state = case state when 'running' then 'queued' else 'running' end where id = $1`,
      values: [runId],
    });
  });
}

interface Asking {
  /** Resolves with the time at which a query finds this step finished. */
  next(runId: string, index: number): Promise<number>;
  stop(): Promise<void>;
}

/** Opens the fastest possible follower: a connection that only queries the awaited steps. */
async function ask({ databaseUrl }: Service): Promise<Asking> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const awaited = new Map<string, (at: number) => void>();
  const stopping = new AbortController();

  async function keepAsking(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (awaited.size > 0) {
        const keys = [...awaited.keys()].map((key) => key.split(' '));
        const { rows: found } = await client.query<{ key: string }>({
          name: 'ask',
          text: `select run_id || ' ' || index as key from unnest($1::text[], $2::integer[]) awaited(run_id, index)
            join steps using (run_id, index) where state = 'succeeded'`,
          values: [keys.map(([runId]) => runId), keys.map(([, index]) => index)],
        });
        for (const { key } of found) {
          awaited.get(key)?.(performance.now());
          awaited.delete(key);
        }
      }
      await sleep(BARE_PAUSE_MS);
    }
  }

  const asking = keepAsking();
  return {
    next: (runId, index) =>
      new Promise((resolve) => {
        awaited.set(`${runId} ${index}`, resolve);
      }),
    async stop() {
      stopping.abort();
      await asking;
      await client.end();
    },
  };
}

export default { events } satisfies Benchmarks;
