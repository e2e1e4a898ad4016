import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  addWork,
  claimWork,
  workOff,
  type Kinds,
  type RecordKind,
  type RequestKind,
} from '#core/foundation/work/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';
import { changeWork } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest({ own: true });

/** Adds a row of a kind that no other test uses; returns the kind. */
async function added({ deps: { database } }: Service, keys: readonly string[] = ['one']): Promise<string> {
  const kind = `test_${randomUUID()}`;
  await database.run`${addWork(sql`select ${kind}, key, '', ${AT_ONCE}, '{}' from unnest(${keys}::text[]) as key`)}`;
  return kind;
}

function rowsOf({ deps: { database } }: Service, kind: string) {
  return database.rows<{ key: string; attempts: number; error: string | null; isFailed: boolean }>`
    select key, attempts, error, failed_at is not null as "isFailed" from work where kind = ${kind} order by key
  `;
}

/** Ends the wait or the lease of the rows. */
function makeDue({ deps: { database } }: Service, kind: string): Promise<void> {
  return changeWork(database, { kind }, { dueAt: AT_ONCE });
}

async function gauge({ registry }: Service, name: string): Promise<number> {
  return total(parseSamples(await registry.metrics()), name);
}

/** Makes a kind of work with an audit event as its effect. */
function recording(record: (tx: Db, key: string) => Promise<void>): RecordKind {
  return { batch: 10, waitsMs: [60_000, 60_000], record: (tx, { key }) => record(tx, key) };
}

function effects({ deps: { database } }: Service, kind: string) {
  return database.rows<{ key: string }>`select key from work where kind = ${`${kind}_effect`} order by key`;
}

/** Adds a row as the effect of another row. */
async function leave(tx: Db, kind: string, key: string): Promise<void> {
  await tx.run`${addWork(sql`select ${`${kind}_effect`}, ${key}, '', 'infinity'::timestamptz, '{}'::jsonb`)}`;
}

test('a row of a kind that this release does not know is left alone, and counted', async ({ service }) => {
  const before = await gauge(service, 'ras_work_unknown');
  const kind = await added(service);
  const parts = createTickParts(service.deps);
  const { signal } = new AbortController();
  await parts.messages(signal);
  await parts.housekeeping(signal);
  expect(await rowsOf(service, kind)).toEqual([{ key: 'one', attempts: 0, error: null, isFailed: false }]);
  expect(await gauge(service, 'ras_work_unknown')).toBe(before + 1);
});

test('work that fails for ever is given up after its waits, with its last error, counted, and can be asked for again', async ({
  service,
}) => {
  const before = await gauge(service, 'ras_work_failed');
  const kind = await added(service);
  const failing: Kinds = { [kind]: recording(() => Promise.reject(new TypeError('a text that may be secret'))) };
  for (const attempts of [1, 2]) {
    expect(await workOff(service.deps, failing, kind)).toBe(1);
    expect(await workOff(service.deps, failing, kind)).toBe(0);
    expect(await rowsOf(service, kind)).toMatchObject([{ attempts, error: 'TypeError: see the log', isFailed: false }]);
    await makeDue(service, kind);
  }
  await workOff(service.deps, failing, kind);
  expect(await rowsOf(service, kind)).toMatchObject([{ attempts: 3, error: 'TypeError: see the log', isFailed: true }]);
  expect(await gauge(service, 'ras_work_failed')).toBe(before + 1);
  await makeDue(service, kind);
  expect(await workOff(service.deps, failing, kind)).toBe(0);

  // The command of docs/monitoring.md for operators.
  await changeWork(service.deps.database, { kind }, { failedAt: null, attempts: 0, dueAt: AT_ONCE });
  await workOff(service.deps, { [kind]: recording((tx, key) => leave(tx, kind, key)) }, kind);
  expect(await rowsOf(service, kind)).toEqual([]);
  expect(await effects(service, kind)).toEqual([{ key: 'one' }]);
});

test('a process that dies after its claim leaves the row to the next one, and one that dies three times to operators', async ({
  service,
}) => {
  const kind = await added(service);
  const { database } = service.deps;
  const kinds: Kinds = { [kind]: recording((tx, key) => leave(tx, kind, key)) };
  expect(await claimWork(database, kind, 10)).toMatchObject([{ key: 'one', attempt: 1 }]);
  expect(await workOff(service.deps, kinds, kind)).toBe(0);
  await makeDue(service, kind);
  expect(await workOff(service.deps, kinds, kind)).toBe(1);
  expect(await rowsOf(service, kind)).toEqual([]);
  expect(await effects(service, kind)).toEqual([{ key: 'one' }]);

  const deadly = await added(service);
  for (let death = 0; death < 3; death += 1) {
    await claimWork(database, deadly, 10);
    await makeDue(service, deadly);
  }
  await workOff(service.deps, { [deadly]: recording((tx, key) => leave(tx, deadly, key)) }, deadly);
  expect(await rowsOf(service, deadly)).toMatchObject([
    { isFailed: true, error: 'the service broke off all attempts' },
  ]);
  expect(await effects(service, deadly)).toEqual([]);
});

test('an effect in Postgres and the end of its row are one, also where twenty processes meet', async ({ service }) => {
  const keys = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, '0'));
  const kind = await added(service, keys);
  // Each first attempt dies after its effect.
  const seen = new Set<string>();
  const kinds: Kinds = {
    [kind]: recording(async (tx, key) => {
      await leave(tx, kind, key);
      if (seen.has(key)) return;
      seen.add(key);
      throw new Error('broken off');
    }),
  };
  await Promise.all(Array.from({ length: 20 }, () => workOff(service.deps, kinds, kind)));
  expect(await effects(service, kind)).toEqual([]);
  await makeDue(service, kind);
  await Promise.all(Array.from({ length: 20 }, () => workOff(service.deps, kinds, kind)));
  expect((await effects(service, kind)).map(({ key }) => key)).toEqual(keys);
  expect(await rowsOf(service, kind)).toEqual([]);
});

test('what asks another system is asked again when the process dies before it has recorded the end', async ({
  service,
}) => {
  const kind = await added(service);
  const asked: number[] = [];
  const request: RequestKind = {
    batch: 1,
    waitsMs: [60_000],
    attempt: ({ attempt }) => {
      asked.push(attempt);
      return Promise.resolve({ state: 'done' });
    },
    ended: () => Promise.resolve(),
  };
  const [item] = await claimWork(service.deps.database, kind, 1);
  await request.attempt(item!, undefined);
  await makeDue(service, kind);
  await workOff(service.deps, { [kind]: request }, kind);
  await makeDue(service, kind).catch(() => undefined);
  await workOff(service.deps, { [kind]: request }, kind);
  expect(asked).toEqual([1, 2]);
});

test('an attempt whose lease has run out ends nothing, and leaves the row to the one that has followed', async ({
  service,
}) => {
  const kind = await added(service);
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun: number[] = [];
  const ended: number[] = [];
  const request: RequestKind = {
    batch: 1,
    waitsMs: [60_000],
    async attempt({ attempt }) {
      begun.push(attempt);
      await held[attempt - 1]?.promise;
      return { state: 'done' };
    },
    ended: (_tx, { attempt }) => Promise.resolve(void ended.push(attempt)),
  };
  const first = workOff(service.deps, { [kind]: request }, kind, { forMs: 0 });
  await expect.poll(() => begun).toEqual([1]);
  await makeDue(service, kind);
  const second = workOff(service.deps, { [kind]: request }, kind, { forMs: 0 });
  await expect.poll(() => begun).toEqual([1, 2]);
  held[0]!.resolve();
  await first;
  expect(ended).toEqual([]);
  expect(await rowsOf(service, kind)).toMatchObject([{ attempts: 2 }]);
  held[1]!.resolve();
  await second;
  expect(ended).toEqual([2]);
  expect(await rowsOf(service, kind)).toEqual([]);
});
