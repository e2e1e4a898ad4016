import fc from 'fast-check';
import { dyingProcess } from '#test/support/end-deps.ts';
import { expect } from 'vitest';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import {
  createAbilityStore,
  createKnownNames,
  createFigureStore,
  createModelDirectory,
  createProjectModels,
} from '#core/models/directory/index.ts';
import { activateRoutine } from '#core/authoring/routines/index.ts';
import { beginStep } from '#core/execution/steps/begin-step.ts';
import { recordEnd } from '#core/execution/runs/end-run.ts';
import { failure, success } from '#core/execution/run-states/states.ts';
import { recordStepAndSuccess } from '#core/execution/steps/record-step.ts';
import { Stop, type ModelCall, type StepsCore } from '#core/execution/steps/index.ts';
import { reserveStep } from '#core/execution/steps/reserve.ts';
import { readForecast } from '#core/execution/forecast/index.ts';
import { plannedRuns } from '#core/execution/forecast/planned-runs.ts';
import { costOf } from '#core/foundation/cost/index.ts';
import { dayOfRunningOut } from '#core/execution/forecast/limits.ts';
import { startGateway } from '#dev/fakes/gateway/server.ts';
import { transaction, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { jitterMs, maxJitterSeconds, nextInTimetable, parseStoredSchedule } from '#lib/schedule/index.ts';
import { sourceAt } from '#test/support/model-caller.ts';
import { sized, TIMES } from '#test/support/properties.ts';
import { changeRoutines, changeVersions, plantRun } from '#test/support/given.ts';
import { instantsBetween } from '#test/lib/schedule/border-instants.ts';
import { clockTest } from '#test/core/scheduling/clock-test.ts';
import { occurrencesOf, plantRoutine, routineOf, type Planted } from '#test/core/scheduling/planted.ts';
import { removeAll, routineIds } from '#test/core/scheduling/routine-ids.ts';

const test = clockTest().extend('forecast', { scope: 'file' }, async ({ database }, { onCleanup }) => {
  const gateway = await startGateway({ port: 0, log: () => undefined });
  onCleanup(() => gateway.stop());
  const log = createLog({ level: 'silent', name: 'test' });
  const models = createProjectModels({
    database,
    modelProviders: { enabled: [] } as never,
    directory: createModelDirectory({
      sources: [sourceAt(gateway.url)],
      abilities: createAbilityStore({ database, log }),
      names: createKnownNames(database, []),
      log,
      showAddresses: true,
    }),
    figures: createFigureStore(database, true),
  });
  return (planted: Planted) => readForecast({ database, models }, { ...planted, plan: 'scale' });
});

const USAGE = {
  inputTokens: 700,
  cachedInputTokens: 0,
  outputTokens: 300,
  reasoningTokens: 0,
  estimated: false,
};
const OPTION = {
  provider: 'gateway',
  connectionId: null,
  modelId: 'fixture/writer-small',
  name: 'Fixture Writer Small',
  contextTokens: 128_000,
  maxOutputTokens: null,
  abilities: {},
  served: null,
  origins: { contextTokens: 'list', maxOutputTokens: null, prices: 'list' },
  prices: { input: '0.00000015', output: '0.0000006', cachedInput: null },
} as const;
const COST = '0.000285';

const schedules = fc.oneof(
  fc.tuple(minutes(59), minutes(23)).map(([m, h]) => `${m} ${h} * * *`),
  fc.tuple(minutes(59), minutes(23)).map(([m, h]) => `${m} ${h} * * 1-5`),
  minutes(59).map((m) => `${m} */12 * * 2-4`),
  fc.constantFrom('30 2 * * *', '0 0 1,15 * *', '@weekly', '59 23 L * *', '0 0 29 2 *', '0 0 31 * *'),
  fc.constantFrom('0 0 * * *', '59 23 * * *', '0,59 0,23 1,28 * *'),
);
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const zones = fc.constantFrom(...ZONES);
const starts = instantsBetween(new Date('2026-01-01T00:00:00Z'), new Date('2028-04-15T00:00:00Z'), ZONES);
const budgets = fc.oneof(
  fc.constant({}),
  fc.integer({ min: 1_000, max: 4_500 }).map((maxTokensPerDay) => ({ maxTokensPerDay })),
  fc.integer({ min: 2, max: 40 }).map((runs) => ({
    maxCostUsdPerMonth: (0.000285 * runs + 0.0001).toFixed(7),
  })),
);

const DAY_MS = 86_400_000;

/** Makes windows, skipped dates and jitter that fit a schedule and a month. */
const timings = fc.record({
  jitter: fc.constantFrom(0, 0, 0.5, 1),
  startsAfterDays: fc.option(fc.integer({ min: -3, max: 12 })),
  endsAfterDays: fc.option(fc.integer({ min: 13, max: 40 })),
  skippedDays: fc.array(fc.integer({ min: 0, max: 32 }), { maxLength: 4 }),
});

type TimingParts = typeof timings extends fc.Arbitrary<infer Parts> ? Parts : never;

function timingOf(schedule: string, start: Date, parts: TimingParts) {
  const after = (days: number | null) => (days === null ? null : new Date(start.getTime() + days * DAY_MS));
  const most = Math.floor(maxJitterSeconds(parseStoredSchedule(schedule)));
  return {
    startsAt: after(parts.startsAfterDays),
    endsAt: after(parts.endsAfterDays),
    skipDates: parts.skippedDays.map((days) => after(days)!.toISOString().slice(0, 10)),
    jitterSeconds: Math.floor(most * parts.jitter),
  };
}

test('with a fixed cost a forecast is what then runs, and a budget ends on the day that it said', async ({
  database,
  clock,
  claim,
  forecast,
}) => {
  await fc.assert(
    fc.asyncProperty(
      routineIds,
      schedules,
      zones,
      starts,
      timings,
      budgets,
      async (id, schedule, timezone, start, parts, budget) => {
        await removeAll(database);
        await clock.set(start);
        const timing = timingOf(schedule, start, parts);
        const planted = await plantRoutine(database, {
          id,
          schedule,
          timezone,
          ...timing,
          ...budget,
        });
        const lateMs = jitterMs(planted.id, timing.jitterSeconds);
        await proofRun(database, planted);
        const said = await forecast(planted);
        expect(said.perRun).toMatchObject({
          basis: 'proof_run',
          sampleSize: 1,
          pricing: 'directory',
        });
        expect(said.perRun.p95).toEqual({ tokens: 1_000, costUsd: COST });

        const timetable = { schedule: parseStoredSchedule(schedule), timezone, ...timing };
        if (nextInTimetable(timetable, new Date(start.getTime() - lateMs)) === undefined) {
          // A routine whose window contains no time of its schedule cannot be activated.
          expect(said.runs.count).toBe(0);
          return;
        }
        await activateRoutine(database, SYSTEM, { ...planted, plan: 'scale' });
        for (;;) {
          const { nextRunAt } = await routineOf(database, planted.id);
          if (nextRunAt === null || nextRunAt > said.runs.until) break;
          await setClock(database, nextRunAt);
          await claim();
          if (!(await performQueued(database, planted.id))) break;
        }

        const record = await occurrencesOf(database, planted.id);
        const stopped = record.find(({ state }) => state !== 'succeeded');
        const limit = said.limits.find(({ scope }) => scope === 'routine');
        // A run uses the budget of the day on which it starts.
        expect(limit?.runsOut?.p95 ?? null).toBe(
          stopped === undefined ? null : dayOf(new Date(stopped.from.getTime() + lateMs)),
        );
        if (stopped !== undefined) return;
        expect({
          count: record.length,
          first: record.at(0)?.from ?? null,
          last: record.at(-1)?.from ?? null,
        }).toEqual({ count: said.runs.count, first: said.runs.first, last: said.runs.last });
        expect(await sumOf(database, planted.id)).toEqual(said.total.p50);
      },
    ),
    { numRuns: sized(20) * TIMES },
  );
});

test('the plan of a routine is its real occurrences, by the day on which each starts', () => {
  fc.assert(
    fc.property(routineIds, schedules, zones, starts, timings, (id, schedule, timezone, now, parts) => {
      const { jitterSeconds, ...window } = timingOf(schedule, now, parts);
      const routine = { id, schedule, timezone, jitterSeconds, ...window, state: 'active' };
      const plan = plannedRuns(routine, now);
      const lateMs = jitterMs(id, jitterSeconds);
      const byDay = new Map(plan.days.map(({ day }) => [day, 0]));
      const timetable = { schedule: parseStoredSchedule(schedule), timezone, ...window };
      const real: Date[] = [];
      let at = nextInTimetable(timetable, new Date(now.getTime() - lateMs));
      while (at !== undefined && at.getTime() + lateMs <= plan.until.getTime()) {
        const day = dayOf(new Date(at.getTime() + lateMs));
        byDay.set(day, (byDay.get(day) ?? 0) + 1);
        real.push(at);
        at = nextInTimetable(timetable, at);
      }
      expect(plan.days.map(({ day, runs }) => [day, runs])).toEqual([...byDay]);
      expect(plan.days[0]?.day).toBe(dayOf(now));
      expect([plan.first, plan.last]).toEqual([real.at(0) ?? null, real.at(-1) ?? null]);
      expect(plan.days.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(30, 9);
    }),
    { numRuns: sized(300) * TIMES },
  );
});

test('a routine that is due each minute has 43,200 runs planned', () => {
  const now = new Date('2026-11-22T09:30:17.123Z');
  const plan = plannedRuns({ id: 'rtn_minutely', schedule: '* * * * *', timezone: 'UTC', state: 'active' }, now);
  expect(plan.count).toBe(43_200);
  expect(plan.days).toHaveLength(31);
});

test('a limit runs out on the day on which the runs and the others ask for more than it has', () => {
  const days = ['2026-11-29', '2026-11-30', '2026-12-01', '2026-12-02'].map((day) => ({
    day,
    share: 1,
    runs: 2,
  }));
  const draw = {
    max: '10',
    used: '3',
    perRun: '1',
    othersPerDay: '0',
    least: 0,
    periodOf: (day: string) => day.slice(0, 7),
  };
  expect(dayOfRunningOut(days, draw)).toBeNull();
  // Nothing is left after the second day, but December begins with a full budget.
  expect(dayOfRunningOut(days, { ...draw, max: '7' })).toBeNull();
  expect(dayOfRunningOut(days, { ...draw, max: '6.5' })).toBe('2026-11-30');
  expect(dayOfRunningOut(days, { ...draw, max: '7', othersPerDay: '0.1' })).toBe('2026-11-30');
  expect(dayOfRunningOut(days, { ...draw, max: '4', used: '0', perRun: '1.5' })).toBe('2026-11-30');
  // The last run would begin with less than the required minimum.
  expect(dayOfRunningOut(days, { ...draw, max: '7', least: 1.5 })).toBe('2026-11-30');
});

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

function minutes(max: number) {
  return fc.integer({ min: 0, max });
}

/** Makes the run that activation requires, with a fixed usage. */
async function proofRun(database: Database, { id }: Planted): Promise<void> {
  const { outputTokens: maxOutputTokens } = USAGE;
  await changeVersions(database, { routineId: id }, { maxOutputTokens });
  await changeRoutines(database, id, { state: 'draft', nextRunAt: null, maxOutputTokens });
  await plantRun(database, id);
  await performQueued(database, id);
}

/**
 * Performs the queued run of a routine as its only model step.
 * @returns false if no run was queued, or a budget had too little left
 */
async function performQueued(database: Database, routineId: string): Promise<boolean> {
  const queued = await database.row<{
    id: string;
  }>`select id from runs where routine_id = ${routineId} and state = 'queued'`;
  if (queued === undefined) return false;
  const { id: runId } = queued;
  const run = await beginStep(database, runId, 0, undefined);
  const step = {
    option: OPTION,
    countInput: () => USAGE.inputTokens,
    call: { signal: new AbortController().signal } as ModelCall,
  };
  const deps = { database, caller: { timeoutMs: 60_000 } } as StepsCore;
  const granted = await reserveStep(deps, run!, step).catch((error: unknown) => {
    if (error instanceof Stop) return undefined;
    throw error;
  });
  const output = granted?.maxOutputTokens ?? 0;
  if (output < USAGE.outputTokens) {
    await transaction(database, (tx) => recordEnd(dyingProcess(database), tx, runId, failure('budget_exceeded')));
    return false;
  }
  const response = {
    text: 'Done.',
    messages: [],
    toolCalls: [],
    finishReason: 'stop',
    usage: USAGE,
  };
  const attempt = {
    runId,
    index: 0,
    attempt: run!.attempt,
    prompt: 'Write.',
    briefing: null,
    skillRevisions: null,
    factsVersion: null,
  };
  const costUsd = costOf(USAGE, OPTION.prices);
  const record = { ...attempt, response, messages: [], costUsd, warnings: [] };
  return (
    (await recordStepAndSuccess(database, record, success('Done.'), { keepsSeen: false, isAlone: true })) !== undefined
  );
}

/** Sets the clock on a pooled connection, which takes a tenth of the time of a new connection. */
async function setClock(database: Database, instant: Date): Promise<void> {
  await database.run`update clock.shift set by = ${instant}::timestamptz - pg_catalog.now()`;
}

async function sumOf(database: Database, routineId: string) {
  const [sum] = await database.rows<{ tokens: number; costUsd: string }>`
    select coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens,
      trim_scale(coalesce(sum(cost_usd), 0))::text as "costUsd"
    from runs where routine_id = ${routineId} and trigger = 'schedule'
  `;
  return sum;
}
