import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { cancellation, failure } from '#core/execution/run-states/index.ts';
import { endRun } from '#core/execution/runs/index.ts';
import { performModelStep, settleLostCalls, type ModelCaller, type StepOutcome } from '#core/execution/steps/index.ts';
import { countInput } from '#core/clients/gateway/index.ts';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { plantRoutines, type Planted } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { sized, TIMES } from '#test/support/properties.ts';
import type { Service } from '#test/support/service.ts';
import { changeOrganizations, changeProjects, changeRoutines, plantRun } from '#test/support/given.ts';

const test = serviceTest({ env: { DATABASE_POOL_SIZE: '12' } });

/** One call of a model: its usage, and the event that hits its run or its process. */
interface Call {
  readonly share: number;
  /** Tokens beyond the maximum of the request, and beyond the counted input. */
  readonly excess: number;
  readonly stated: boolean;
  readonly goesOn: boolean;
  readonly delayMs: number;
  readonly event: Event;
}

const EVENTS = ['none', 'crash', 'crash and retry', 'overtaken', 'cancel', 'time out'] as const;
/** The process of an `overtaken` attempt seems dead: its response arrives after another attempt has made the step. */
type Event = (typeof EVENTS)[number];

const call: fc.Arbitrary<Call> = fc.record({
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  excess: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 500 })),
  stated: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  goesOn: fc.boolean(),
  delayMs: fc.integer({ min: 0, max: 12 }),
  event: fc.oneof(
    { weight: 5, arbitrary: fc.constant('none' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...EVENTS.slice(1)) },
  ),
});

const tokens = fc.option(fc.integer({ min: 600, max: 8_000 }));
const cost = fc.option(fc.integer({ min: 3, max: 40 }).map((n) => (n / 10_000).toFixed(4)));
const budget = fc.record({ tokens, cost });

type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;

const scenario = fc.record({
  routine: budget,
  project: budget,
  organization: budget,
  maxOutputTokens: fc.option(fc.integer({ min: 50, max: 1_500 })),
  maxTotalTokens: fc.option(fc.integer({ min: 500, max: 4_000 })),
  runs: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 }),
});

/** A scenario in which every event happens, with any seed and any order of runs. */
const EVERY_EVENT: Scenario = {
  routine: { tokens: null, cost: null },
  project: { tokens: null, cost: null },
  organization: { tokens: null, cost: null },
  maxOutputTokens: null,
  maxTotalTokens: 4_000,
  runs: EVENTS.map((event) => [{ share: 0.1, excess: 0, stated: true, goesOn: false, delayMs: 0, event }]),
};

test('however runs meet, end, crash and get late responses, totals are the ledger and limits hold', async ({
  service,
}) => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { database } = service.deps;
      const planted = await plantRoutines(database, 2);
      await setBudgets(database, planted, given);
      const runs = await Promise.all(
        given.runs.map(async (calls, number) => {
          const routine = planted[number % 2]!;
          const id = await plantRun(database, routine.id, {
            maxSteps: 20,
            timeoutSeconds: 900,
            maxTotalTokens: given.maxTotalTokens,
            admittedAt: new Date(),
          });
          return { id, routine, calls };
        }),
      );
      const carriedOut = await Promise.all(runs.map((run) => carryOut(service, run)));
      for (const { outcomes } of carriedOut) for (const outcome of outcomes) seen.add(outcome);
      expect(await disagreements(database, planted[0]!)).toEqual([]);
      const spentBy = async (scope: keyof Planted, of: Planted) =>
        spent(
          database,
          runs.filter(({ routine }) => routine[scope] === of[scope]).map(({ id }) => id),
        );
      const excessOf = (scope: keyof Planted, of: Planted) =>
        carriedOut
          .filter((_, number) => runs[number]!.routine[scope] === of[scope])
          .reduce((sum, { excess }) => sum + excess, 0);
      const scopes = [
        ...planted.map((of) => ({ scope: 'id' as const, of, limit: given.routine })),
        { scope: 'projectId' as const, of: planted[0]!, limit: given.project },
        { scope: 'organizationId' as const, of: planted[0]!, limit: given.organization },
      ];
      for (const { scope, of, limit } of scopes) {
        const use = await spentBy(scope, of);
        const excess = excessOf(scope, of);
        expect(use.tokens).toBeLessThanOrEqual((limit.tokens ?? Infinity) + excess);
        expect(use.cost).toBeLessThanOrEqual(Number(limit.cost ?? Infinity) + excess * DEAREST + 1e-9);
      }
      for (const [number, { id }] of runs.entries()) {
        const use = await spent(database, [id]);
        const { excess, crashes } = carriedOut[number]!;
        expect(use.tokens).toBeLessThanOrEqual((given.maxTotalTokens ?? Infinity) + excess);
        // Each call that died with its process counts. Without a limit it leaves no record.
        if (given.maxTotalTokens !== null) expect(await lostCalls(database, id)).toBe(crashes);
      }
    }),
    { numRuns: sized(60) * TIMES, examples: [[EVERY_EVENT]] },
  );
  // The test met each way in which a run can end.
  for (const outcome of ['ended', 'crashed', 'late', 'overtaken', 'waited']) {
    expect([...seen]).toContain(outcome);
  }
});

/** US dollars per output token of `fixture/writer-small`. */
const DEAREST = 0.0000006;

async function setBudgets(database: Database, planted: readonly Planted[], given: Scenario): Promise<void> {
  const [{ projectId, organizationId }] = planted as [Planted];
  const budget = ({ tokens, cost }: typeof given.routine) => ({
    maxTokensPerDay: tokens,
    maxCostUsdPerMonth: cost,
  });
  const { maxOutputTokens } = given;
  await changeRoutines(database, { projectId }, { maxOutputTokens, ...budget(given.routine) });
  await changeProjects(database, projectId, budget(given.project));
  await changeOrganizations(database, organizationId, budget(given.organization));
}

/** Carries out a run like its workflow, without Temporal's pauses. */
async function carryOut(service: Service, run: { id: string; calls: readonly Call[] }) {
  let excess = 0;
  let crashes = 0;
  const outcomes = new Set(['ended']);
  const met = new Set<number>();
  const left = [...run.calls.entries()];
  /** Abandoned attempts, whose responses arrive at the end of the run. */
  const overtaken: { respond: () => void; step: Promise<unknown> }[] = [];
  let lose: (event: Event, respond: () => void) => void = () => undefined;

  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    async call(input) {
      const [number, script] = left[0] ?? [-1, LAST];
      await sleep(script.delayMs);
      const { event } = script;
      if (isLost(event) && !met.has(number)) {
        met.add(number);
        // A dead process never gets its response; a process that only seems dead gets it late.
        await new Promise<void>((respond) => lose(event, respond));
      } else {
        left.shift();
      }
      if (event === 'cancel') await endRun(service.deps, run.id, cancellation);
      if (event === 'time out') await endRun(service.deps, run.id, failure('timeout'));
      if (event === 'cancel' || event === 'time out') {
        outcomes.add('late');
        // Other runs could use the reservation if it were released before the response.
        await sleep(40);
      }
      const outputTokens = Math.floor((input.maxOutputTokens ?? 2_000) * script.share) + script.excess;
      const inputTokens = countInput(input) + script.excess;
      excess += script.excess + Math.max(outputTokens - (input.maxOutputTokens ?? Infinity), 0);
      return {
        text: 'Done.',
        messages: [{ role: 'assistant', content: 'Done.' }],
        toolCalls: script.goesOn ? [{ callId: newId('run'), name: 'none', input: {}, invalid: true }] : [],
        finishReason: script.goesOn ? 'tool-calls' : 'stop',
        usage: {
          inputTokens,
          cachedInputTokens: 0,
          outputTokens,
          reasoningTokens: 0,
          estimated: !script.stated,
        },
      };
    },
  };

  /** Performs a step until it is done, or its process is lost. */
  async function attempt(index: number): Promise<StepOutcome | Event> {
    const lost = Promise.withResolvers<Event>();
    lose = (event, respond) => {
      if (event === 'overtaken') overtaken.push({ respond, step });
      lost.resolve(event);
    };
    const step = performModelStep({ ...service.deps, caller }, { runId: run.id, index }, AbortSignal.timeout(60_000));
    return Promise.race([step, lost.promise]);
  }

  for (let index = 0; ;) {
    const step = await attempt(index);
    if (typeof step === 'object') {
      if (step.next === 'ended') break;
      if (step.next === 'wait') {
        outcomes.add('waited');
        await respondAll(overtaken);
        await sleep(5);
      } else index = step.nextIndex;
      continue;
    }
    outcomes.add(step === 'overtaken' ? 'overtaken' : 'crashed');
    if (step === 'overtaken') continue;
    crashes += 1;
    await sleep(10);
    if (step === 'crash') await endRun(service.deps, run.id, failure('workflow_lost'));
    // The reservation of a dead process remains until its call's time is over.
    await sleep(10);
    await endLease(service, run.id, index);
    if (step === 'crash') break;
  }
  await respondAll(overtaken);
  return { outcomes, excess, crashes };
}

function isLost(event: Event): boolean {
  return event === 'crash' || event === 'crash and retry' || event === 'overtaken';
}

async function respondAll(overtaken: { respond: () => void; step: Promise<unknown> }[]) {
  for (const { respond, step } of overtaken.splice(0)) {
    respond();
    await step;
  }
}

/** Ends the time of the last attempt at a step, and settles its call as every tick does. */
async function endLease({ deps }: Service, runId: string, index: number): Promise<void> {
  await deps.database.run`
    update usage_reservations r set leased_until = ${AT_ONCE} from steps s
    where r.run_id = ${runId} and r.step_index = ${index}
      and s.run_id = r.run_id and s.index = r.step_index and s.attempt = r.attempt
  `;
  await settleLostCalls(deps, AbortSignal.timeout(60_000));
}

const LAST: Call = {
  share: 0.1,
  excess: 0,
  stated: true,
  goesOn: false,
  delayMs: 0,
  event: 'none',
};

async function spent(database: Database, runIds: readonly string[]) {
  const [use] = await database.rows<{ tokens: number; cost: string }>`
    select coalesce(sum(total_tokens), 0)::bigint as tokens, coalesce(sum(cost_usd), 0)::text as cost
    from usage_ledger where run_id = any(${runIds})
  `;
  return { tokens: use!.tokens, cost: Number(use!.cost) };
}

async function lostCalls(database: Database, runId: string): Promise<number> {
  const found =
    await database.rows`select from usage_ledger where run_id = ${runId} and attempt < 0 and total_tokens > 0`;
  return found.length;
}

/** Lists every sum of the project's usage that differs from the ledger, and all remaining reservations. */
async function disagreements(database: Database, { organizationId, projectId }: Planted) {
  return database.rows`
    with ledger as (
      select scope_id, sum(total_tokens) as tokens, coalesce(sum(cost_usd), 0) as cost from usage_ledger l,
        unnest(array[${organizationId}, l.project_id, l.routine_id]) as scope_id
      where l.project_id = ${projectId} group by scope_id
    )
    select 'totals' as what, scope_id as id from usage_totals t left join ledger l using (scope_id)
    where (scope_id in (${organizationId}, ${projectId})
        or scope_id in (select id from routines where project_id = ${projectId}))
      and (day_tokens <> coalesce(l.tokens, 0) or month_tokens <> coalesce(l.tokens, 0)
        or month_cost_usd <> coalesce(l.cost, 0) or reserved_tokens <> 0 or reserved_cost_usd <> 0)
    union all
    select 'no totals', scope_id from ledger where scope_id not in (select scope_id from usage_totals)
    union all
    select 'reserved', run_id from usage_reservations
    union all
    select 'days', r.id from routines r where project_id = ${projectId} and (
      select coalesce(sum(input_tokens + output_tokens), 0) from usage_days d where d.routine_id = r.id
    ) <> (select coalesce(sum(total_tokens), 0) from usage_ledger l where l.routine_id = r.id)
    union all
    select 'run', r.id from runs r where project_id = ${projectId} and r.input_tokens + r.output_tokens <> (
      select coalesce(sum(total_tokens), 0) from usage_ledger l where l.run_id = r.id)
    union all
    select 'estimated', r.id from runs r where project_id = ${projectId} and r.estimated_usage <> (
      select coalesce(bool_or(usage_estimated), false) from steps s where s.run_id = r.id)
    union all
    select 'steps', r.id from runs r where project_id = ${projectId} and r.input_tokens + r.output_tokens <> (
      select coalesce(sum(input_tokens + output_tokens), 0) from steps s where s.run_id = r.id)
  `;
}
