import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createRunChanges, type RunChanges } from '#core/runs/index.ts';
import { rows, sql } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { alternate, rateFor } from './harness/alternate.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { load, loadRoutines, routineId } from './harness/bulk.ts';
import { cpuSeconds } from './harness/cpu.ts';
import { followAll, type Followers } from './harness/event-followers.ts';
import { compared, plain, quantile, type Figure } from './harness/figures.ts';
import { residentMb, startService, type Service } from './harness/service.ts';

const FOLLOWERS = 1_000;

/** Followers of one run, as many as an organization may have by default. */
const TOGETHER = 200;

/** Steps recorded a second: of a service that makes fifty runs of two steps. */
const A_SECOND = 100;

const WRITERS = 16;

const events: Benchmark = {
  about: `${FOLLOWERS} followers over HTTP, ${A_SECOND} steps recorded a second: from the commit to the event, against a bare connection that listens`,
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
    const listening = await listen(service);
    // Tells as the worker does that records the steps.
    const changes = createRunChanges({
      database: service.database,
      log: createLog({ level: 'warn', name: 'bench' }),
    });
    try {
      const loaded = await loadRunning(service, FOLLOWERS + 1);
      const [runIds, one] = [loaded.slice(1), loaded.slice(0, 1)];
      const unfollowed = await commitRate(service, changes, runIds);
      const rest = await residentMb(service.api);
      const followers = await followAll(service, runIds);
      const atWork = await residentMb(service.api);
      const cpuBefore = await cpuSeconds(service.api.pid);
      await sleep(10_000);
      const idle = (await cpuSeconds(service.api.pid)) - cpuBefore;
      // The first seconds are V8's, which compiles.
      await tellAll({
        service,
        followers,
        listening,
        changes,
        runIds: runIds.slice(0, 5 * A_SECOND),
        seconds: 5,
      });
      const each = await tellAll({ service, followers, listening, changes, runIds, seconds });
      const cost = await commitRate(service, changes, runIds);
      const commits = await alternate(long ? 5 : 3, {
        value: () => commitRate(service, changes, runIds),
        baseline: async () => {
          await service.database.query('update run_followers set run_id = lower(run_id) || $1', [
            'x',
          ]);
          const rate = await commitRate(service, changes, runIds);
          await service.database.query('update run_followers set run_id = left(run_id, -1)');
          return rate;
        },
      });
      await followers.close();
      const together = await followAll(
        service,
        Array.from({ length: TOGETHER }, () => one[0]!),
      );
      const all = await tellAll({
        service,
        followers: together,
        listening,
        changes,
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
        plain('API at rest, with all of them', '% of a core', [idle * 10]),
        plain('API at work', 'ms CPU an event', [each.cpuMs]),
        plain('API memory', 'kB a follower', [((atWork - rest) * 1_024) / FOLLOWERS]),
        ...figuresOf(`${TOGETHER} of one run`, all),
        compared(`commits of ${WRITERS} writers, followed against not`, '/s', commits),
      ];
    } finally {
      await listening.stop();
      await changes.settled();
      await service.stop();
    }
  },
};

export default events;

interface Told {
  /** Milliseconds from the commit to the event, sorted, for each follower that was told. */
  readonly times: readonly number[];
  /** The same for a connection that listens and does nothing else. */
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
  readonly listening: Listening;
  readonly changes: RunChanges;
  readonly runIds: readonly string[];
  readonly seconds: number;
  readonly aSecond?: number;
}

/** Records finished steps, one run after the other, and compares when each was heard of with when it was committed. */
async function tellAll(telling: Telling): Promise<Told> {
  const { service, followers, listening, runIds, seconds, aSecond = A_SECOND } = telling;
  const count = seconds * aSecond;
  const perRun = Math.ceil(count / runIds.length);
  const first = telling.followers.steps;
  telling.followers.steps += perRun;
  await service.database.query(
    `insert into steps (run_id, index, project_id, kind, state, model_id, started_at)
     select id, n, $1, 'tool', 'started', 'fixture/writer-small', now()
     from unnest($2::text[]) id, generate_series($3::integer, $4::integer - 1) n`,
    [service.projectId, runIds, first, first + perRun],
  );
  followers.reset();
  const cpuBefore = await cpuSeconds(service.api.pid);
  const begun = performance.now();
  const committed = new Map<string, number>();
  const notified = new Map<string, number>();
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
  const bare = [...notified].map(([key, at]) => at - committed.get(key)!);
  return {
    times: times.toSorted((a, b) => a - b),
    bare: bare.toSorted((a, b) => a - b),
    missing: expected - heard.length,
    cpuMs: cpuMs / heard.length,
  };

  async function record(runId: string, index: number): Promise<void> {
    const key = `${runId} ${index}`;
    const told = listening.next(runId).then((at) => notified.set(key, at));
    await service.database.query({
      name: 'record',
      text: `update steps set state = 'succeeded', finished_at = now() where run_id = $1 and index = $2`,
      values: [runId, index],
    });
    committed.set(key, performance.now());
    telling.changes.tell(runId);
    await told;
  }
}

/** Returns how many commits a second change the state of a run, back and forth between two that have not ended. */
async function commitRate(
  { database }: Service,
  changes: RunChanges,
  runIds: readonly string[],
): Promise<number> {
  let n = 0;
  return rateFor(3, WRITERS, async () => {
    n += 1;
    const runId = runIds[n % runIds.length]!;
    await database.query({
      name: 'change',
      text: `update runs set state = case state when 'running' then 'queued' else 'running' end where id = $1`,
      values: [runId],
    });
    changes.tell(runId);
  });
}

async function loadRunning(service: Service, count: number): Promise<string[]> {
  const { projectId, organizationId } = service;
  await load(service.databaseUrl, async (db) => {
    await loadRoutines(db, { projectId, firstNumber: 0, count: 1 });
    await rows(
      db,
      sql`
        insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, model_provider,
          model_id, max_steps, timeout_seconds, created_at, started_at, workflow_started_at, admitted_at)
        select 'run_' || lpad(n::text, 26, '0'), ${organizationId}, ${projectId}, ${routineId(0)}, 1, 'manual',
          'running', 'gateway', 'fixture/writer-small', 25, 900, now(), now(), now(), now()
        from generate_series(0, ${count}::bigint - 1) n
      `,
    );
  });
  return Array.from({ length: count }, (_, n) => `run_${String(n).padStart(26, '0')}`);
}

interface Listening {
  /** Resolves with the time at which the next change of this run is notified. */
  next(runId: string): Promise<number>;
  stop(): Promise<void>;
}

/** The least that could tell of a change: a connection that listens to what the service notifies. */
async function listen({ databaseUrl }: Service): Promise<Listening> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('listen run_changed');
  const waiting = new Map<string, ((at: number) => void)[]>();
  client.on('notification', ({ payload = '' }) =>
    waiting.get(payload)?.shift()?.(performance.now()),
  );
  return {
    next: (runId) =>
      new Promise((resolve) => {
        waiting.set(runId, [...(waiting.get(runId) ?? []), resolve]);
      }),
    stop: () => client.end(),
  };
}
