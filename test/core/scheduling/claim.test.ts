import { expect } from 'vitest';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { proves } from '#test/support/proves.ts';
import { explained } from '#test/support/plans.ts';
import { clockTest } from './clock-test.ts';
import { accountingFaults, occurrencesOf, plantRoutine, plantRoutines, routineOf } from './planted.ts';
import { EVERY, changeRoutines, changeRuns, plantRun, plantTotals } from '#test/support/given.ts';

const test = clockTest({ poolSize: 24 });

const NOON = new Date('2026-03-10T12:00:00Z');
const HOUR = 3_600_000;
function before(ms: number) {
  return new Date(NOON.getTime() - ms);
}

test.beforeEach(async ({ database, clock }) => {
  await changeRoutines(database, EVERY, { state: 'archived' });
  await clock.set(new Date(NOON.getTime() + 1_000));
});

test(
  'twenty claimers at once over 1,500 due routines claim each exactly once',
  proves('routine.nextRunAt'),
  async ({ database, claim }) => {
    const [first] = await plantRoutines(database, 900, { nextRunAt: NOON });
    await plantRoutines(database, 600, { nextRunAt: NOON });
    const claimer = async () => {
      const claimed = [];
      for (let more = true; more;) {
        const batch = await claim({}, 50);
        claimed.push(batch.runs);
        more = batch.more;
      }
      return claimed.reduce((sum, runs) => sum + runs, 0);
    };
    const claimed = await Promise.all(Array.from({ length: 20 }, claimer));
    expect(claimed.reduce((sum, runs) => sum + runs, 0)).toBe(1_500);
    const counted = await database.row`
      select count(*) as runs, count(distinct routine_id) as routines, count(*) filter (where state = 'queued') as queued
      from runs where scheduled_for = ${NOON}
    `;
    expect(counted).toEqual({ runs: 1_500, routines: 1_500, queued: 1_500 });
    const left =
      await database.row`select count(*) as due from routines where state = 'active' and next_run_at <= now()`;
    expect(left).toEqual({ due: 0 });
    const allowance = await database.row`select runs from period_runs where organization_id = ${first!.organizationId}`;
    expect(allowance).toEqual({ runs: 900 });
  },
);

test('a batch takes the routines that are due longest and says whether there are more', async ({ database, claim }) => {
  const late = await plantRoutine(database, { nextRunAt: before(HOUR), schedule: '0 * * * *' });
  const due = await plantRoutine(database, { nextRunAt: NOON });
  expect(await claim({}, 1)).toMatchObject({ more: true });
  expect(await occurrencesOf(database, late.id)).toHaveLength(2);
  expect(await occurrencesOf(database, due.id)).toHaveLength(0);
  expect(await claim({}, 2)).toMatchObject({ more: false, runs: 1, skipped: 0 });
});

test('after an outage of three days run_once makes one run, and one row says what was missed', async ({
  database,
  claim,
}) => {
  const { id } = await plantRoutine(database, {
    schedule: '0 * * * *',
    nextRunAt: before(72 * HOUR),
  });
  expect(await claim()).toMatchObject({ more: false, runs: 1, skipped: 1 });
  expect(await occurrencesOf(database, id)).toMatchObject([
    {
      state: 'skipped',
      reason: 'misfire',
      count: 72,
      from: before(72 * HOUR),
      until: before(HOUR),
    },
    { state: 'queued', reason: null, from: NOON },
  ]);
  expect((await routineOf(database, id)).nextRunAt).toEqual(before(-HOUR));
});

test('under misfire skip a late occurrence is passed over and one within five minutes runs', async ({
  database,
  claim,
}) => {
  const late = await plantRoutine(database, {
    schedule: '50 11 * * *',
    misfire: 'skip',
    nextRunAt: before(24 * HOUR + 600_000),
  });
  const punctual = await plantRoutine(database, {
    schedule: '56 * * * *',
    misfire: 'skip',
    nextRunAt: before(2 * HOUR + 240_000),
  });
  await claim();
  expect(await occurrencesOf(database, late.id)).toMatchObject([
    { state: 'skipped', reason: 'misfire', count: 2, until: before(600_000) },
  ]);
  expect(await occurrencesOf(database, punctual.id)).toMatchObject([
    { state: 'skipped', reason: 'misfire', count: 2 },
    { state: 'queued', from: before(240_000) },
  ]);
});

test('while a run is open the next occurrence is skipped for overlap, unless overlap is allowed', async ({
  database,
  clock,
  claim,
}) => {
  const careful = await plantRoutine(database, { nextRunAt: NOON });
  const bold = await plantRoutine(database, { nextRunAt: NOON, overlap: 'allow' });
  await claim();
  await clock.shift(60_000);
  await claim();
  const states = async (id: string) => (await occurrencesOf(database, id)).map((o) => o.reason ?? o.state);
  expect(await states(careful.id)).toEqual(['queued', 'overlap']);
  expect(await states(bold.id)).toEqual(['queued', 'queued']);
});

test('every occurrence that is passed over says in words why', async ({ database, clock, claim }) => {
  const overlapping = await plantRoutine(database, { nextRunAt: NOON });
  const late = { schedule: '* * * * *', timezone: 'UTC', misfire: 'skip' as const };
  await plantRoutine(database, { ...late, nextRunAt: before(HOUR) });
  const disabled = await plantRoutine(database, { nextRunAt: NOON });
  await changeRoutines(database, disabled.id, { modelProvider: 'provider-b' });
  await claim();
  await clock.shift(60_000);
  await changeRoutines(database, overlapping.id, { nextRunAt: AT_ONCE });
  await claim();
  const said = await database.rows`
    select distinct reason, error_message as message from runs join routines r on r.id = routine_id
    where runs.state = 'skipped' and r.state = 'active' order by reason
  `;
  expect(said).toEqual([
    {
      reason: 'misfire',
      message: 'The occurrence was missed, and the routine does not catch up.',
    },
    { reason: 'overlap', message: 'The previous run of the routine was still going.' },
    { reason: 'provider_disabled', message: 'The model provider is disabled.' },
  ]);
});

test('a run that has waited as long as it may is no overlap for the occurrence that is due then', async ({
  database,
  clock,
  claim,
}) => {
  const schedule = { schedule: '* * * * *', timezone: 'UTC', nextRunAt: NOON };
  const waitFor = async (overlap: 'skip' | 'queue', seconds: number) => {
    const { id } = await plantRoutine(database, { ...schedule, overlap });
    await changeRoutines(database, id, { maxQueueSeconds: seconds });
    return id;
  };
  const expiring = [await waitFor('skip', 60), await waitFor('queue', 60)];
  const waiting = [await waitFor('skip', 66), await waitFor('queue', 66)];
  const running = await waitFor('skip', 60);
  await claim();
  await changeRuns(database, { routineId: running }, { state: 'running' });
  await clock.shift(60_000);
  await claim();
  const states = async (id: string) => (await occurrencesOf(database, id)).map((o) => o.reason ?? o.state);
  for (const id of expiring) {
    expect(await states(id)).toEqual(['queued', 'queued']);
    const [after] =
      await database.rows`select after_previous as waits from runs where routine_id = ${id} order by id desc`;
    expect(after).toEqual({ waits: true });
  }
  for (const id of [...waiting, running]) {
    expect(await states(id)).toEqual([id === running ? 'running' : 'queued', 'overlap']);
  }
});

test('occurrences skipped one after the other for overlap are one row, until something else happens', async ({
  database,
  clock,
  claim,
}) => {
  const schedule = { schedule: '* * * * *', timezone: 'UTC' };
  const { id } = await plantRoutine(database, { ...schedule, nextRunAt: NOON });
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      await Promise.all([claim(), claim(), claim()]);
      await clock.shift(60_000);
    }
  };
  await pass(4);
  const streak = { state: 'skipped', reason: 'overlap' };
  const begun = [
    { state: 'queued', from: NOON },
    { ...streak, count: 3, from: before(-60_000), until: before(-180_000) },
  ];
  expect(await occurrencesOf(database, id)).toMatchObject(begun);
  // A person's run is no occurrence, but it ends the streak.
  await plantRun(database, id, { state: 'succeeded' });
  await pass(2);
  expect(await occurrencesOf(database, id)).toMatchObject([...begun, { ...streak, count: 2 }]);
  // A skip for another reason ends the streak too.
  await changeRoutines(database, id, { modelProvider: 'provider-b' });
  await pass(2);
  const record = await occurrencesOf(database, id);
  expect(record).toMatchObject([
    ...begun,
    { ...streak, count: 2 },
    { state: 'skipped', reason: 'provider_disabled', count: 2 },
  ]);
  const until = before(-7 * 60_000);
  expect(accountingFaults(record, { ...schedule, after: before(1), until })).toEqual([]);
});

test('when the allowance of the month is used up the rest is skipped, and nothing is counted for it', async ({
  database,
  claim,
}) => {
  const [first] = await plantRoutines(database, 103, { nextRunAt: NOON });
  const free = { planRule: { billingConfigured: true, defaultPlan: 'scale' as const } };
  expect(await claim(free)).toMatchObject({ runs: 100, skipped: 3 });
  const { projectId, organizationId } = first!;
  const reasons =
    await database.rows`select distinct reason from runs where project_id = ${projectId} and state = 'skipped'`;
  expect(reasons).toEqual([{ reason: 'allowance_exceeded' }]);
  const used = await database.row`select runs from period_runs where organization_id = ${organizationId}`;
  expect(used).toEqual({ runs: 100 });
});

test('a routine at its tokens of the day, or its cost of the month, is skipped', async ({ database, claim }) => {
  const tokens = await plantRoutine(database, { nextRunAt: NOON, maxTokensPerDay: 1_000 });
  const beside = { nextRunAt: NOON, beside: tokens };
  const cost = await plantRoutine(database, { ...beside, maxCostUsdPerMonth: '2.50' });
  const yesterday = await plantRoutine(database, { ...beside, maxTokensPerDay: 1_000 });
  const lastMonth = await plantRoutine(database, { ...beside, maxCostUsdPerMonth: '2.50' });
  await spend(database, tokens.id, { tokens: 1_000, costUsd: null, at: before(11 * HOUR) });
  await spend(database, cost.id, { tokens: 5, costUsd: '2.5000000001', at: before(9 * 24 * HOUR) });
  await spend(database, yesterday.id, { tokens: 5_000, costUsd: null, at: before(13 * HOUR) });
  await spend(database, lastMonth.id, { tokens: 5, costUsd: '99', at: before(10 * 24 * HOUR) });
  await claim();
  const outcome = async ({ id }: { id: string }) => (await occurrencesOf(database, id)).at(-1)?.reason;
  expect(await outcome(tokens)).toBe('budget_exceeded');
  expect(await outcome(cost)).toBe('budget_exceeded');
  expect(await outcome(yesterday)).toBeNull();
  expect(await outcome(lastMonth)).toBeNull();
});

async function spend(
  database: Database,
  routineId: string,
  use: { tokens: number; costUsd: string | null; at: Date },
): Promise<void> {
  const { at, tokens, costUsd } = use;
  await plantTotals(database, routineId, { at, tokens, costUsd: costUsd ?? 0 });
}

test('a claim reads the totals of budgeted routines and never the ledger', async ({
  database,
  testDatabase,
  claim,
}) => {
  const routine = await plantRoutine(database, { nextRunAt: NOON, maxTokensPerDay: 1_000 });
  await spend(database, routine.id, { tokens: 1_000, costUsd: null, at: before(HOUR) });
  const plans = await explained(testDatabase.url, (explaining) => claim({ database: explaining }));
  expect(plans.filter((plan) => plan.includes('usage_totals'))).toHaveLength(1);
  expect(plans.filter((plan) => plan.includes('usage_ledger'))).toEqual([]);
});

test('a routine of a provider that is disabled is skipped and runs nowhere else', async ({ database, claim }) => {
  const { id } = await plantRoutine(database, { nextRunAt: NOON, provider: 'provider-b' });
  expect(await claim()).toMatchObject({ runs: 0, skipped: 1 });
  expect(await occurrencesOf(database, id)).toMatchObject([{ reason: 'provider_disabled', count: 1 }]);
});

test('a stored schedule or zone that cannot be computed pauses that routine and no other', async ({
  database,
  claim,
}) => {
  const broken = await plantRoutine(database, { nextRunAt: NOON, schedule: 'nonsense' });
  const beside = { nextRunAt: NOON, beside: broken };
  const nowhere = await plantRoutine(database, { ...beside, timezone: 'Mars/Olympus' });
  const well = await plantRoutine(database, beside);
  expect(await claim()).toMatchObject({ more: false, runs: 1, skipped: 2 });
  for (const { id } of [broken, nowhere]) {
    expect(await routineOf(database, id)).toMatchObject({
      state: 'paused',
      nextRunAt: null,
      stateReason: expect.stringContaining('no computable next time'),
    });
    expect(await occurrencesOf(database, id)).toMatchObject([{ state: 'skipped', reason: 'blocked' }]);
  }
  expect(await occurrencesOf(database, well.id)).toMatchObject([{ state: 'queued' }]);
});

test('a clock set forward by an hour and back again doubles nothing and loses nothing', async ({
  database,
  clock,
  claim,
}) => {
  const schedule = { schedule: '*/5 * * * *', timezone: 'UTC' };
  const { id } = await plantRoutine(database, { ...schedule, nextRunAt: NOON, overlap: 'allow' });
  await claim();
  await clock.shift(HOUR);
  await claim();
  expect(await occurrencesOf(database, id)).toMatchObject([
    { state: 'queued', from: NOON },
    { state: 'skipped', reason: 'misfire', count: 11 },
    { state: 'queued', from: before(-HOUR) },
  ]);
  await clock.shift(-HOUR);
  for (let minutes = 0; minutes < 70; minutes += 10) {
    await claim();
    await clock.shift(600_000);
  }
  await claim();
  const record = await occurrencesOf(database, id);
  const until = before(-70 * 60_000);
  expect(accountingFaults(record, { ...schedule, after: before(1), until })).toEqual([]);
});

test('a schedule that is replanned while the clock is an hour behind does not run an occurrence twice', async ({
  database,
  clock,
  claim,
}) => {
  const schedule = { schedule: '*/5 * * * *', timezone: 'UTC' };
  const { id } = await plantRoutine(database, { ...schedule, nextRunAt: NOON, overlap: 'allow' });
  await claim();
  await clock.shift(-HOUR);
  // The time that a save of the schedule would store now.
  const replanned = before(HOUR - 300_000);
  await changeRoutines(database, id, { nextRunAt: replanned });
  await clock.shift(HOUR / 2);
  expect(await claim()).toMatchObject({ more: false, runs: 0, skipped: 0 });
  expect((await routineOf(database, id)).nextRunAt).toEqual(before(-300_000));
  await clock.shift(HOUR);
  await claim();
  const record = await occurrencesOf(database, id);
  const until = before(-HOUR / 2);
  expect(accountingFaults(record, { ...schedule, after: before(1), until })).toEqual([]);
});
