import { expect } from 'vitest';
import { forgetBreakers } from '#core/execution/breaker/index.ts';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { EVERY, ahead, changeRoutines, plantBreaker, plantPeriodRuns, removeBreakers } from '#test/support/given.ts';
import { clockTest } from '#test/core/scheduling/clock-test.ts';
import { occurrencesOf, plantRoutine, plantRoutines } from '#test/core/scheduling/planted.ts';

const test = clockTest({ poolSize: 24 });

const NOON = new Date('2026-03-10T12:00:00Z');
const ACCOUNT = 'gateway/fixture/writer-small';

test.beforeEach(async ({ database, clock }) => {
  await changeRoutines(database, EVERY, { state: 'archived' });
  await removeBreakers(database, EVERY);
  await clock.set(new Date(NOON.getTime() + 1_000));
});

/** Opens the breaker with a pause of 30 s, of which this many seconds are left. */
function open(database: Database, secondsLeft: number) {
  return plantBreaker(database, ACCOUNT, {
    failures: 3,
    failedAt: AT_ONCE,
    pauseFrom: ahead(`${secondsLeft - 30} seconds`),
    pauseUntil: ahead(`${secondsLeft} seconds`),
  });
}

function breaker(database: Database) {
  return database.row`
    select extract(epoch from pause_until - now())::float8 > 28 as pausing,
      extract(epoch from pause_until - pause_from)::float8 as seconds
    from model_breakers where account = ${ACCOUNT}
  `;
}

test('until the pause is over every occurrence of the account is skipped, in one row a routine', async ({
  database,
  clock,
  claim,
}) => {
  const [first, second] = await plantRoutines(database, 2, { nextRunAt: NOON });
  await open(database, 150);
  await claim();
  await clock.shift(60_000);
  await claim();
  await clock.shift(60_000);
  await claim();
  for (const { id } of [first!, second!]) {
    expect(await occurrencesOf(database, id)).toMatchObject([
      { state: 'skipped', reason: 'provider_unavailable', count: 3, from: NOON },
    ]);
  }
});

test('of 200 due routines in ten overlapping ticks one passes as the probe, and the next after another pause', async ({
  database,
  clock,
  claim,
}) => {
  const [first] = await plantRoutines(database, 200, { nextRunAt: NOON });
  await open(database, -1);
  const ticks = await Promise.all(Array.from({ length: 10 }, () => claim({}, 20)));
  const sum = (of: readonly { runs: number }[]) => of.reduce((total, { runs }) => total + runs, 0);
  const rest = await claim();
  expect(sum([...ticks, rest])).toBe(1);
  expect(await breaker(database)).toEqual({ pausing: true, seconds: 30 });
  const skipped =
    await database.row`select count(*) as skipped from runs where project_id = ${first!.projectId} and reason = 'provider_unavailable'`;
  expect(skipped).toEqual({ skipped: 199 });
  // The probe is lost, so the breaker is still open when the next probe may pass.
  await clock.shift(60_000);
  expect(await claim()).toMatchObject({ runs: 1, skipped: 199 });
});

test('an occurrence that something else holds back does not use up the probe', async ({ database, claim }) => {
  const { organizationId } = await plantRoutine(database, { nextRunAt: NOON });
  await plantPeriodRuns(database, organizationId, new Date('2026-03-01'), 100);
  await open(database, -1);
  const free = { planRule: { billingConfigured: true, defaultPlan: 'scale' as const } };
  const claimed = await claim(free);
  expect([...claimed.skippedBy.keys()]).toEqual(['allowance_exceeded']);
  expect(await breaker(database)).toEqual({ pausing: false, seconds: 30 });
});

test('routines of other accounts run on: another model, a personal connection', async ({ database, claim }) => {
  const [model, connection] = await plantRoutines(database, 2, { nextRunAt: NOON });
  await changeRoutines(database, model!.id, { modelId: 'fixture/writer-large' });
  await changeRoutines(database, connection!.id, { modelConnectionId: 'mcn_own' });
  await open(database, 100);
  expect(await claim()).toMatchObject({ runs: 2, skipped: 0 });
});

test('a breaker that was not used for a day is deleted', async ({ database, clock }) => {
  await open(database, 10);
  await forgetBreakers(database, 10);
  expect(await database.rows`select account from model_breakers`).toHaveLength(1);
  await clock.shift(25 * 3_600_000);
  await forgetBreakers(database, 10);
  expect(await database.rows`select account from model_breakers`).toEqual([]);
});
