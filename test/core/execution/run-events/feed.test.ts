import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRunFeed, forgetFollowers, openRunEvents, type RunFeed } from '#core/execution/run-events/index.ts';
import { persistently, withStatements, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  ago,
  changeFollowers,
  changeRuns,
  changeSteps,
  plantRun,
  plantSteps,
  removeFollowers,
} from '#test/support/given.ts';

let testDatabase: TestDatabase;
const silent = createLog({ level: 'silent', name: 'test' });
const feeds: RunFeed[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(async () => {
  for (const feed of feeds) {
    feed.close();
    await feed.idle();
  }
  await testDatabase.drop();
});

const LIMITS = { perCredential: 5_000, perOrganization: 5_000, perProcess: 2_000 };

function startFeed({ database = testDatabase.database, limits = {}, log = silent } = {}): RunFeed {
  const feed = createRunFeed({ database, limits: { ...LIMITS, ...limits }, log });
  feeds.push(feed);
  return feed;
}

/** The service's looks at followed runs. */
interface Looks {
  count: number;
  /** The runs that each look asked for. A look that finds no commit asks for none. */
  readonly asked: string[][];
  /** True to make the looks fail, as without Postgres. */
  away: boolean;
  /** True to make the looks find no commit, because other tests commit on the same server. */
  still: boolean;
}

/** Returns a pool whose looks are recorded. */
function watchLooks(database: Database): { pool: Database; looks: Looks } {
  const looks: Looks = { count: 0, asked: [], away: false, still: false };
  let last: pg.QueryResult | undefined;
  const query = async (config: pg.QueryConfig) => {
    if (!/next_commit|pg_current_snapshot/.test(config.text)) return database.query(config);
    looks.count += 1;
    if (looks.away) throw new Error('Postgres is away');
    if (config.text.includes('next_commit')) {
      if (!looks.still) return database.query(config);
      await sleep(10);
      return last;
    }
    looks.asked.push(String(config.values?.[0]).slice(1, -1).split(','));
    return (last = await database.query(config));
  };
  const pool = withStatements(Object.create(database, { query: { value: query } }) as Database);
  return { pool, looks };
}

interface Planted {
  readonly projectId: string;
  readonly id: string;
}

async function queuedRun(): Promise<Planted> {
  const { database } = testDatabase;
  const { projectId, id: routineId } = await plantRoutine(database);
  return { projectId, id: await plantRun(database, routineId) };
}

async function setState({ id }: Planted, state: string): Promise<void> {
  await changeRuns(testDatabase.database, id, { state });
}

const follower = { credential: 'key_one', organizationId: 'org_one', wantsText: false };

/** Follows a run and collects the names of its events; resolves when the stream has ended. */
async function collect(feed: RunFeed, run: Planted, names: string[] = []): Promise<string[]> {
  const { signal } = new AbortController();
  const events = await openRunEvents({ ...testDatabase, runFeed: feed }, run, {
    follower,
    lastEventId: '',
    signal,
  });
  for await (const event of events!) {
    if (event.event === 'step' || event.event === 'text') names.push(String(event.data.index));
    else names.push(event.event === 'state' ? event.data.state : event.data.reason);
  }
  return names;
}

const text = { attempt: 0, piece: 0 };
const start = { steps: 0, state: undefined, text };
const queued = { steps: 0, state: 'queued', text } as const;

/** Follows a run up to its first state, and returns the watch. */
async function followQueued(feed: RunFeed, run: Planted, signal = new AbortController().signal) {
  const watch = await feed.follow(run, follower, signal);
  expect(await watch.changed(start)).toBe(true);
  expect((await watch.read(start)).run.state).toBe('queued');
  return watch;
}

test('a follower hears of a change, not of its absence, and nothing more once it is gone', async () => {
  const feed = startFeed();
  const run = await queuedRun();
  const gone = new AbortController();
  const watch = await followQueued(feed, run, gone.signal);
  let heard = false;
  const change = watch.changed(queued).then((news) => {
    heard = true;
    return news;
  });
  await sleep(1_500);
  expect(heard).toBe(false);
  await setState(run, 'running');
  expect(await change).toBe(true);
  const last = watch.changed({ ...start, state: 'running' });
  gone.abort();
  expect(await last).toBe(false);
  const onRecord = () => testDatabase.database.row`select from run_followers where credential = 'key_one'`;
  await expect.poll(onRecord).toBeUndefined();
});

test('one statement looks at all followed runs, at none where nothing was committed, and there is none without followers', async () => {
  const { pool, looks } = watchLooks(testDatabase.database);
  const feed = startFeed({ database: pool });
  const runs = await Promise.all(Array.from({ length: 20 }, queuedRun));
  await sleep(200);
  expect(looks.count).toBe(0);
  const gone = new AbortController();
  const watches = [];
  for (const run of runs) watches.push(await followQueued(feed, run, gone.signal));
  const heard = watches.map((watch) => watch.changed(queued));
  const ids = runs.map(({ id }) => id);
  await expect.poll(() => looks.asked.at(-1)).toEqual(ids);
  looks.still = true;
  // A look that is under way may still ask.
  const { count: before } = looks;
  await expect.poll(() => looks.count).toBeGreaterThan(before + 3);
  const [asked, count] = [looks.asked.length, looks.count];
  await expect.poll(() => looks.count).toBeGreaterThan(count + 3);
  expect(looks.asked).toHaveLength(asked);
  looks.still = false;
  await setState(runs[7]!, 'running');
  expect(await heard[7]).toBe(true);
  expect(looks.asked[asked]).toEqual(ids);
  gone.abort();
  expect(await Promise.all(heard)).toEqual(runs.map((_, n) => n === 7));
  const { count: last } = looks;
  await sleep(200);
  expect(looks.count).toBeLessThanOrEqual(last + 1);
});

test('followers stay while Postgres is away, which is logged once, and hear when it is back', async () => {
  const { pool, looks } = watchLooks(testDatabase.database);
  const lines: string[] = [];
  const feed = startFeed({
    database: pool,
    log: createLog({ level: 'info', name: 'test' }, (line) => lines.push(line)),
  });
  const run = await queuedRun();
  const heard = (await followQueued(feed, run)).changed(queued);
  looks.away = true;
  const { count } = looks;
  await expect.poll(() => looks.count).toBeGreaterThan(count + 3);
  await setState(run, 'running');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('followed runs could not be read');
  // A crash of Postgres empties the table in the same way.
  await removeFollowers(testDatabase.database, { credential: 'key_one' });
  looks.away = false;
  expect(await heard).toBe(true);
  const leases = await testDatabase.database.rows`select from run_followers`;
  expect(leases.length).toBeGreaterThan(0);
  expect(lines).toHaveLength(1);
});

test('steps that end in any order are told in theirs, once, while connections are cut off again and again', async () => {
  const { database } = testDatabase;
  const feed = startFeed();
  const run = await queuedRun();
  const STEPS = 60;
  await setState(run, 'running');
  for (let index = 0; index < STEPS; index += 1) {
    await plantSteps(database, [run.id], { index, kind: 'tool', state: 'started' });
  }
  const names = Array.from({ length: 4 }, (): string[] => []);
  const told = names.map((of) => collect(feed, run, of));
  await expect.poll(() => names).toEqual(names.map(() => ['running']));
  let cut = 0;
  const order = Array.from({ length: STEPS }, (_, index) => (index * 37) % STEPS);
  for (const index of order) {
    if (index % 12 === 0) {
      const ended = await database.rows`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      cut += ended.length;
    }
    await persistently(
      () => changeSteps(database, { runId: run.id, index }, { state: 'succeeded' }),
      new AbortController().signal,
    );
    await sleep(20);
  }
  await setState(run, 'succeeded');
  const expected = ['running', ...Array.from({ length: STEPS }, (_, n) => String(n)), 'succeeded'];
  for (const events of await Promise.all(told)) expect(events).toEqual(expected);
  expect(cut).toBeGreaterThan(0);
});

test('what one follower has read is still news for another that has not', async () => {
  const feed = startFeed();
  const run = await queuedRun();
  const { signal } = new AbortController();
  const first = await followQueued(feed, run, signal);
  const heard = first.changed(queued);
  await setState(run, 'running');
  const second = await feed.follow(run, follower, signal);
  await second.changed(start);
  expect((await second.read(start)).run.state).toBe('running');
  expect(await heard).toBe(true);
});

test('a process takes so many streams, refuses one more, and takes it when another has gone', async () => {
  const feed = startFeed({ limits: { perProcess: 3 } });
  const run = await queuedRun();
  const controllers = Array.from({ length: 3 }, () => new AbortController());
  for (const { signal } of controllers) await feed.follow(run, follower, signal);
  const { signal } = new AbortController();
  const one = () => feed.follow(run, follower, signal);
  await expect(one()).rejects.toMatchObject({ code: 'service_unavailable' });
  controllers[0]!.abort();
  expect(await (await one()).changed(start)).toBe(true);
  feed.close();
  await expect(one()).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('streams that a dead process has left count until their lease is over, and are then forgotten', async () => {
  const { database } = testDatabase;
  const feed = startFeed({ limits: { perCredential: 1 } });
  const run = await queuedRun();
  const left = { credential: 'key_left', organizationId: 'org_left', wantsText: false };
  await database.run`insert into run_followers values (gen_random_uuid(), 'org_left', 'key_left', now() + interval '1 hour')`;
  const { signal } = new AbortController();
  await expect(feed.follow(run, left, signal)).rejects.toMatchObject({ code: 'rate_limited' });
  await changeFollowers(database, { credential: 'key_left' }, { leasedUntil: ago('1 second') });
  await feed.follow(run, left, signal);
  await forgetFollowers(database, 1_000);
  const found =
    await database.rows`select leased_until > now() as live from run_followers where credential = 'key_left'`;
  expect(found).toEqual([{ live: true }]);
});
