import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { PlanRule } from '#core/accounts/billing/index.ts';
import { admitRuns, retakeUnstarted } from '#core/execution/admission/admit.ts';
import { announceSlots, createAdmission, withdrawSlots } from '#core/execution/admission/index.ts';
import { AT_ONCE, sql, transaction, type Sql } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { createTestDatabase, lockWaits, type TestDatabase } from '#test/support/database.ts';
import {
  EVERY,
  ago,
  ahead,
  changeOrganizations,
  changeRuns,
  changeWorkers,
  countRun,
  plantRuns,
  removePeriodRuns,
  removeRuns,
  removeWorkers,
} from '#test/support/given.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(async () => {
  await removeRuns(testDatabase.database, EVERY);
  await removeWorkers(testDatabase.database, EVERY);
  await removePeriodRuns(testDatabase.database, EVERY);
});
afterAll(() => testDatabase.drop());

const TASK_QUEUE = 'order';
const SELF_HOSTED: PlanRule = { billingConfigured: false, defaultPlan: 'scale' };

interface Fields {
  readonly trigger?: 'schedule' | 'manual' | 'backfill';
  readonly state?: 'queued' | 'running' | 'succeeded';
  readonly queuedForSeconds?: number;
  readonly admitted?: boolean;
  readonly afterPrevious?: boolean;
}

/** Plants runs of one routine, oldest first. */
function waitingRuns(
  routine: Planted,
  count: number,
  { trigger = 'schedule', queuedForSeconds = 3_600, admitted = false, ...fields }: Fields = {},
): Promise<string[]> {
  return plantRuns(testDatabase.database, routine.id, count, {
    trigger,
    queueUntil: ahead(`${queuedForSeconds} seconds`),
    admittedAt: admitted ? AT_ONCE : null,
    ...fields,
  });
}

function organizations(count: number): Promise<Planted[]> {
  return Promise.all(Array.from({ length: count }, () => plantRoutine(testDatabase.database)));
}

function room(slots: number): Promise<void> {
  return announceSlots(testDatabase.database, { workerId: 'w', taskQueue: TASK_QUEUE, slots });
}

/** Plants running runs that wait for a budget. */
async function plantWaiting(routine: Planted, count: number): Promise<string[]> {
  const ids = await waitingRuns(routine, count, { state: 'running', admitted: true });
  await changeRuns(testDatabase.database, ids, {
    waitsSince: ahead('0 seconds'),
    waitsUntil: ahead('0 seconds'),
  });
  return ids;
}

async function admit(limit: number, planRule = SELF_HOSTED): Promise<string[]> {
  const rule = { taskQueue: TASK_QUEUE, planRule, runsAtATimeOfAccounts: {} };
  return (await admitRuns(testDatabase.database, rule, limit)).map(({ id }) => id).toSorted();
}

test('without a live worker nothing is admitted', async () => {
  const [routine] = await organizations(1);
  await waitingRuns(routine!, 3);
  expect(await admit(10)).toEqual([]);
  await room(5);
  await changeWorkers(testDatabase.database, EVERY, { expiresAt: AT_ONCE });
  expect(await admit(10)).toEqual([]);
  await announceSlots(testDatabase.database, { workerId: 'x', taskQueue: 'another', slots: 5 });
  expect(await admit(10)).toEqual([]);
  await room(5);
  expect(await admit(10)).toHaveLength(3);
});

test('as many are admitted as there are slots and a tenth more, at least one', async () => {
  const [routine] = await organizations(1);
  await waitingRuns(routine!, 40);
  await room(1);
  expect(await admit(50)).toHaveLength(2);
  expect(await admit(50)).toEqual([]);
  await room(20);
  expect(await admit(50)).toHaveLength(20);
  const letIn = { admittedAt: (at: Sql) => sql`${at} is not null` };
  await changeRuns(testDatabase.database, letIn, { state: 'succeeded' });
  expect(await admit(50)).toHaveLength(18);
});

test('a worker that withdraws takes its room away', async () => {
  const [routine] = await organizations(1);
  await waitingRuns(routine!, 3);
  await room(10);
  await withdrawSlots(testDatabase.database, 'w');
  expect(await admit(10)).toEqual([]);
});

test('the next place goes to the organization with the fewest admitted runs', async () => {
  const [many, few, one] = await organizations(3);
  const ofMany = await waitingRuns(many!, 100);
  await room(20);
  expect(await admit(10)).toEqual(ofMany.slice(0, 10));
  const ofFew = await waitingRuns(few!, 4);
  const ofOne = await waitingRuns(one!, 1);
  expect(await admit(5)).toEqual([...ofFew, ...ofOne].toSorted());
  expect(await admit(50)).toEqual(ofMany.slice(10, 17));
});

test('one organization takes three quarters of the places where another runs too, and all where none does', async () => {
  const { database } = testDatabase;
  const [first, second] = await organizations(2);
  await room(20);
  const ofFirst = await waitingRuns(first!, 40);
  await countRun(database, first!.organizationId);
  expect(await admit(50)).toHaveLength(22);
  await changeRuns(database, ofFirst.slice(0, 22), { state: 'succeeded' });
  await countRun(database, second!.organizationId);
  expect(await admit(50)).toHaveLength(16);
  const ofSecond = await waitingRuns(second!, 30);
  expect(await admit(50)).toEqual(ofSecond.slice(0, 6));
});

test('a run that is cancelled in the moment of its admission stays cancelled', async () => {
  const { database } = testDatabase;
  const [routine] = await organizations(1);
  const [cancelled, other] = await waitingRuns(routine!, 2);
  await room(10);
  const admission = await transaction(database, async (tx) => {
    await changeRuns(tx, cancelled!, { state: 'cancelled' });
    const begun = admit(10);
    await expect.poll(() => lockWaits(database)).toBe(1);
    return { begun };
  });
  expect(await admission.begun).toEqual([other]);
});

test('within an organization manual runs come before scheduled ones, the oldest first', async () => {
  const [routine] = await organizations(1);
  const scheduled = await waitingRuns(routine!, 3);
  const manual = await waitingRuns(routine!, 2, { trigger: 'manual' });
  await room(50);
  expect(await admit(1)).toEqual([manual[0]]);
  expect(await admit(2)).toEqual([scheduled[0]!, manual[1]!].toSorted());
  expect(await admit(2)).toEqual(scheduled.slice(1));
});

test('runs of a backfill come after all others of their organization, one of a routine at a time', async () => {
  const [routine] = await organizations(1);
  const [first, second] = await waitingRuns(routine!, 2, {
    trigger: 'backfill',
    afterPrevious: true,
  });
  const scheduled = await waitingRuns(routine!, 2);
  const [manual] = await waitingRuns(routine!, 1, { trigger: 'manual' });
  await room(50);
  expect(await admit(1)).toEqual([manual]);
  await changeRuns(testDatabase.database, manual!, { state: 'succeeded' });
  expect(await admit(2)).toEqual(scheduled);
  expect(await admit(5)).toEqual([]);
  await changeRuns(testDatabase.database, { trigger: 'schedule' }, { state: 'succeeded' });
  expect(await admit(5)).toEqual([first]);
  await changeRuns(testDatabase.database, first!, { state: 'succeeded' });
  expect(await admit(5)).toEqual([second]);
});

test('an occurrence is not let in together with the run of its routine that it waits for', async () => {
  const [scheduled, manual, past] = await organizations(3);
  const before: string[] = [];
  const after: string[] = [];
  for (const [routine, first, second] of [
    [scheduled, 'schedule', 'schedule'],
    [manual, 'manual', 'schedule'],
    [past, 'schedule', 'backfill'],
  ] as const) {
    before.push(...(await waitingRuns(routine!, 1, { trigger: first })));
    after.push(...(await waitingRuns(routine!, 1, { trigger: second, afterPrevious: true })));
  }
  await room(50);
  expect(await admit(10)).toEqual(before.toSorted());
  expect(await admit(10)).toEqual([]);
  await changeRuns(testDatabase.database, before, { state: 'succeeded' });
  expect(await admit(10)).toEqual(after.toSorted());
});

test('a plan bounds runs at a time exactly, however many look at once', async () => {
  const [free, pro] = await organizations(2);
  await changeOrganizations(testDatabase.database, pro!.organizationId, {
    paidPlan: 'pro',
    paidUntil: ahead('1 day'),
  });
  await waitingRuns(free!, 30);
  await waitingRuns(pro!, 30);
  await room(500);
  const paid = { billingConfigured: true, defaultPlan: 'scale' as const };
  const admitted = await Promise.all(Array.from({ length: 12 }, () => admit(10, paid)));
  expect(admitted.flat()).toHaveLength(1 + 20);
  expect(new Set(admitted.flat())).toHaveLength(1 + 20);
  // The operator's own limit applies too; without paid plans, only that limit applies.
  expect(await admit(50, { ...SELF_HOSTED, runsAtATime: 22 })).toHaveLength(2 + 21);
});

test('runs that wait for a budget take no place, and enough of a project keep its others in the queue', async () => {
  const [short, other] = await organizations(2);
  await room(3);
  const waiting = await plantWaiting(short!, 9);
  const [tenth, queued] = await waitingRuns(short!, 2);
  expect(await admit(1)).toEqual([tenth]);
  await changeRuns(testDatabase.database, tenth!, {
    state: 'running',
    waitsSince: ahead('0 seconds'),
    waitsUntil: ahead('0 seconds'),
  });
  expect(await admit(10)).toEqual([]);
  // Sleeping runs take no place, so another organization finds all four free.
  const ofOther = await waitingRuns(other!, 5);
  expect(await admit(10)).toEqual(ofOther.slice(0, 4));
  await changeRuns(testDatabase.database, ofOther.slice(0, 4), { state: 'succeeded' });
  await changeRuns(testDatabase.database, waiting[0]!, { waitsSince: null, waitsUntil: null });
  expect(await admit(10)).toContain(queued);
});

test('a run that has waited too long is not admitted', async () => {
  const [routine] = await organizations(1);
  await waitingRuns(routine!, 2, { queuedForSeconds: -1 });
  const [fresh] = await waitingRuns(routine!, 1);
  await room(10);
  expect(await admit(10)).toEqual([fresh]);
});

test('a run that waits for its predecessor is admitted when no other run of the routine is open', async () => {
  const [routine] = await organizations(1);
  const [previous] = await waitingRuns(routine!, 1, { state: 'running', admitted: true });
  const [next] = await waitingRuns(routine!, 1, { afterPrevious: true });
  await room(10);
  expect(await admit(10)).toEqual([]);
  await changeRuns(testDatabase.database, previous!, { state: 'succeeded' });
  expect(await admit(10)).toEqual([next]);
});

test('an admitted run whose start was not recorded is taken again when its lease is over', async () => {
  const { database } = testDatabase;
  const [routine] = await organizations(1);
  const [id] = await waitingRuns(routine!, 1);
  await room(10);
  expect(await admit(10)).toEqual([id]);
  expect(await retakeUnstarted(database, 10)).toEqual([]);
  await changeRuns(database, EVERY, { startLeasedUntil: ago('1 second') });
  const taken = await Promise.all(Array.from({ length: 8 }, () => retakeUnstarted(database, 10)));
  expect(taken.flat()).toEqual([
    {
      id,
      organizationId: routine!.organizationId,
      projectId: routine!.projectId,
      routineId: routine!.id,
      trigger: 'schedule',
      timeoutSeconds: 60,
    },
  ]);
});

/** Makes an admission that fails to start these runs, and notes the other starts. */
function admissionThatFails(failing: ReadonlySet<string>, started: string[]) {
  return createAdmission({
    database: testDatabase.database,
    engine: {
      startRun({ id }) {
        if (failing.has(id)) return Promise.reject(new Error('refused'));
        started.push(id);
        return Promise.resolve();
      },
    },
    rule: { taskQueue: TASK_QUEUE, planRule: SELF_HOSTED, runsAtATimeOfAccounts: {} },
    log: createLog({ level: 'silent', name: 'test' }),
  });
}

test('starts that fail here and there keep no other run from its start', async () => {
  const [routine] = await organizations(1);
  await room(100);
  const ids = await waitingRuns(routine!, 60);
  const failing = new Set([ids[0]!, ids[20]!, ids[40]!]);
  const started: string[] = [];
  const report = await admissionThatFails(failing, started).admit();
  expect(report).toEqual({ started: 57, unavailable: false });
  expect(started.toSorted()).toEqual(ids.filter((id) => !failing.has(id)));
  // Runs that failed to start keep their place, and are due again after their pause.
  await changeRuns(testDatabase.database, EVERY, { startLeasedUntil: AT_ONCE });
  const again = await admissionThatFails(new Set(), started).admit();
  expect(again).toEqual({ started: 3, unavailable: false });
  expect(new Set(started)).toEqual(new Set(ids));
  expect(started).toHaveLength(60);
});

test('if every start fails, Temporal is away, and admission stops after a few', async () => {
  const [routine] = await organizations(1);
  await room(500);
  const ids = await waitingRuns(routine!, 300);
  const report = await admissionThatFails(new Set(ids), []).admit();
  expect(report).toEqual({ started: 0, unavailable: true });
  const asked = await testDatabase.database.run`select from runs where admitted_at is not null`;
  expect(asked).toBeLessThanOrEqual(64);
});
