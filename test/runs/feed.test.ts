import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  createRunChanges,
  createRunFeed,
  forgetFollowers,
  openRunEvents,
  type RunChanges,
  type RunFeed,
} from '#core/runs/index.ts';
import { execute, row, rows, sql, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { plantRoutine } from '#test/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  ago,
  changeFollowers,
  changeRuns,
  changeSteps,
  plantRun,
  plantSteps,
} from '#test/support/given.ts';

let testDatabase: TestDatabase;
const log = createLog({ level: 'silent', name: 'test' });
const feeds: RunFeed[] = [];
let changes: RunChanges;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  changes = createRunChanges({ database: testDatabase.database, log });
});
afterAll(async () => {
  for (const feed of feeds) {
    feed.close();
    await feed.settled();
  }
  await changes.settled();
  await testDatabase.drop();
});

const LIMITS = { perCredential: 5_000, perOrganization: 5_000, perProcess: 2_000 };

function startFeed({
  url = testDatabase.url,
  database = testDatabase.database,
  limits = {},
} = {}): RunFeed {
  const feed = createRunFeed({
    database,
    databaseUrl: url,
    limits: { ...LIMITS, ...limits },
    log,
  });
  feeds.push(feed);
  return feed;
}

/** The pool as a feed sees it whose looks find nothing: only notifications tell it of changes. */
function withoutLooks(database: Database): Database {
  return new Proxy(database, {
    get(target, name) {
      if (name === 'query') {
        return (config: pg.QueryConfig) =>
          /where id = any/.test(config.text) ? { rows: [] } : target.query(config);
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
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
  changes.tell(id);
}

const follower = { credential: 'key_one', organizationId: 'org_one' };

/** Follows a run and collects the names of what comes; resolves when the stream has ended. */
async function collect(feed: RunFeed, run: Planted, names: string[] = []): Promise<string[]> {
  const { signal } = new AbortController();
  const events = await openRunEvents({ ...testDatabase, runFeed: feed }, run, {
    follower,
    lastEventId: '',
    signal,
  });
  for await (const event of events!) {
    if (event.event === 'step') names.push(String(event.data.index));
    else names.push(event.event === 'state' ? event.data.state : event.data.reason);
  }
  return names;
}

function isLive(feed: RunFeed) {
  return expect.poll(() => feed.status().live, { timeout: 10_000 });
}

/** Follows a new run, changes it, and resolves when the follower has heard. */
async function newsOf(feed: RunFeed): Promise<Planted> {
  const run = await queuedRun();
  const watch = await feed.follow(run, follower, new AbortController().signal);
  await watch.changed();
  await watch.read(-1);
  const heard = watch.changed();
  await setState(run, 'running');
  expect(await heard).toBe(true);
  return run;
}

test('a follower hears of a change, not of its absence, and nothing more once it is gone', async () => {
  const feed = startFeed();
  const run = await queuedRun();
  const gone = new AbortController();
  const watch = await feed.follow(run, follower, gone.signal);
  expect(await watch.changed()).toBe(true);
  await watch.read(-1);
  let heard = false;
  const change = watch.changed().then((news) => {
    heard = true;
    return news;
  });
  await sleep(1_500);
  expect(heard).toBe(false);
  await setState(run, 'running');
  expect(await change).toBe(true);
  const last = watch.changed();
  gone.abort();
  expect(await last).toBe(false);
  const onRecord = () =>
    row(testDatabase.database, sql`select from run_followers where run_id = ${run.id}`);
  await expect.poll(onRecord).toBeUndefined();
});

test('changes are notified to followers only', async () => {
  const feed = startFeed({ database: withoutLooks(testDatabase.database) });
  await feed.follow(await queuedRun(), follower, new AbortController().signal);
  await isLive(feed).toBe(true);
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  await client.query('listen run_changed');
  const heard: string[] = [];
  client.on('notification', ({ payload = '' }) => {
    if (payload.startsWith('run_')) heard.push(payload);
  });
  await setState(await queuedRun(), 'running');
  const { id } = await newsOf(feed);
  await expect.poll(() => heard).toEqual([id]);
  await client.end();
});

test('where notifications do not arrive, as through a pooler of transactions, changes are polled for', async () => {
  // Listening succeeds in another database of the server too, and hears nothing.
  const feed = startFeed({ url: inject('postgresAdminUrl') });
  await newsOf(feed);
  expect(feed.status().live).toBe(false);
});

test('steps that end in any order are told in theirs, once, while the listener is cut off again and again', async () => {
  const { database } = testDatabase;
  const feed = startFeed();
  const run = await queuedRun();
  const STEPS = 60;
  await setState(run, 'running');
  for (let index = 0; index < STEPS; index += 1) {
    await plantSteps(database, [run.id], { index, kind: 'tool', state: 'started' });
  }
  const told = Array.from({ length: 4 }, () => collect(feed, run));
  await isLive(feed).toBe(true);
  let cut = 0;
  const order = Array.from({ length: STEPS }, (_, index) => (index * 37) % STEPS);
  for (const index of order) {
    if (index % 12 === 0) {
      const ended = await rows(
        database,
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'ras-listener' and datname = current_database()`,
      );
      cut += ended.length;
    }
    await changeSteps(database, { runId: run.id, index }, { state: 'succeeded' });
    // One in four goes untold, as when a process dies after its commit.
    if (index % 4 !== 0) changes.tell(run.id);
    await sleep(20);
  }
  await setState(run, 'succeeded');
  const expected = ['running', ...Array.from({ length: STEPS }, (_, n) => String(n)), 'succeeded'];
  for (const names of await Promise.all(told)) expect(names).toEqual(expected);
  expect(cut).toBeGreaterThan(0);
});

test('what one follower has read is still news for another that has not', async () => {
  // Only looks tell here.
  const feed = startFeed({ url: inject('postgresAdminUrl') });
  const run = await queuedRun();
  const { signal } = new AbortController();
  const first = await feed.follow(run, follower, signal);
  await first.changed();
  await first.read(-1);
  const heard = first.changed();
  await setState(run, 'running');
  const second = await feed.follow(run, follower, signal);
  await second.changed();
  expect((await second.read(-1)).run.state).toBe('running');
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
  expect(await (await one()).changed()).toBe(true);
  feed.close();
  await expect(one()).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('streams that a dead process has left count until their lease is over, and are then forgotten', async () => {
  const { database } = testDatabase;
  const feed = startFeed({ limits: { perCredential: 1 } });
  const run = await queuedRun();
  const left = { credential: 'key_left', organizationId: 'org_left' };
  await execute(
    database,
    sql`insert into run_followers values (gen_random_uuid(), 'run_left', 'org_left', 'key_left', now() + interval '1 hour')`,
  );
  const { signal } = new AbortController();
  await expect(feed.follow(run, left, signal)).rejects.toMatchObject({ code: 'rate_limited' });
  await changeFollowers(database, { runId: 'run_left' }, { leasedUntil: ago('1 second') });
  await feed.follow(run, left, signal);
  await forgetFollowers(database, 1_000);
  const found = await rows(
    database,
    sql`select run_id from run_followers where credential = 'key_left'`,
  );
  expect(found).toEqual([{ run_id: run.id }]);
});
