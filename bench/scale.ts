import { enqueueManualRun } from '#core/execution/runs/enqueue.ts';
import { dyingProcess } from '#test/support/end-deps.ts';
import { admitRuns } from '#core/execution/admission/admit.ts';
import { beginStep } from '#core/execution/steps/begin-step.ts';
import { success } from '#core/execution/run-states/states.ts';
import { recordStepAndSuccess } from '#core/execution/steps/record-step.ts';
import { listRuns } from '#core/execution/runs/index.ts';
import { claimDueRoutines } from '#core/scheduling/index.ts';
import { newId } from '#lib/ids.ts';
import { type Benchmark, type Benchmarks, compared, type Figure } from './harness/benchmark.ts';
import { routineId } from '#test/support/given/bulk.ts';
import { NO_FILTER } from './reads.ts';
import { alternate, timed } from './harness/measure.ts';
import { buffersOf, explained } from '#test/support/plans.ts';
import {
  clearWaiting,
  DUE,
  enqueueScheduled,
  letPass,
  makeDue,
  makeWaiting,
  ORGANIZATIONS,
  populate,
  RULE,
  sizes,
  WAITING,
  vacuum,
  type Population,
} from '#test/support/given/population.ts';

const FEW = 10_000;
const BATCH = 500;
const ADMITTED_AT_ONCE = 16;
const TARGET = { atMost: 1.5 };

const scale: Benchmark = {
  about: `claim, admission, lists and the statements of a run with 1,000,000 runs on record (--long: 10,000,000), against ${FEW}`,
  async run({ stack, long, note }) {
    const count = long ? 10_000_000 : 1_000_000;
    const few = await populate(stack, FEW);
    const loading = performance.now();
    const many = await populate(stack, count);
    note(`Loading ${count} runs took ${((performance.now() - loading) / 1_000).toFixed(0)} s. ${await sizes(many)}`);
    try {
      const figures: Figure[] = [];
      for (const { what, prepare, work, times } of WORK) {
        const measure = async (population: Population) => {
          await prepare?.(population);
          const took = await timed(() => repeated(times, () => work(population)));
          return took / times;
        };
        await alternate(1, { value: () => measure(many), baseline: () => measure(few) });
        const rounds = await alternate(long ? 9 : 7, {
          value: () => measure(many),
          baseline: () => measure(few),
        });
        figures.push(compared(what, 'ms', rounds));
        const buffers = async (population: Population) => {
          await prepare?.(population);
          const plans = await explained(population.url, (database) => work({ ...population, database }));
          return buffersOf(plans);
        };
        const touched = { value: [await buffers(many)], baseline: [await buffers(few)] };
        figures.push(compared(what, 'buffers', touched, TARGET));
      }
      return figures;
    } finally {
      await Promise.all([many.database.end(), few.database.end()]);
    }
  },
};

interface Work {
  readonly what: string;
  readonly prepare?: (population: Population) => Promise<void>;
  readonly work: (population: Population) => Promise<unknown>;
  /** Repetitions in a round. The figure is the time of one repetition. */
  readonly times: number;
}

const WORK: readonly Work[] = [
  {
    what: `claim of ${DUE} due routines`,
    prepare: makeDue,
    work: async ({ database }) => {
      const deps = {
        ...dyingProcess(database),
        planRule: RULE.planRule,
        providerEnabled: () => true,
      };
      while ((await claimDueRoutines(deps, BATCH)).more);
    },
    times: 1,
  },
  {
    what: `admission of ${ADMITTED_AT_ONCE} of ${WAITING} waiting runs of ${ORGANIZATIONS} organizations`,
    prepare: async (population) => {
      await makeWaiting(population);
      await vacuum(population);
    },
    work: admitSome,
    times: 10,
  },
  {
    what: 'statements of a run: enqueue, begin, record',
    prepare: async (population) => {
      await clearWaiting(population);
      await vacuum(population);
    },
    work: oneRun,
    times: 50,
  },
  {
    what: 'the same, just before autovacuum comes',
    prepare: async (population) => {
      await clearWaiting(population);
      await letPass(population);
    },
    work: oneRun,
    times: 50,
  },
  {
    what: `admission of ${ADMITTED_AT_ONCE} of one organization, just before autovacuum comes`,
    prepare: async (population) => {
      await clearWaiting(population);
      await letPass(population);
      await enqueueScheduled(population, ADMITTED_AT_ONCE * 10);
    },
    work: admitSome,
    times: 10,
  },
  {
    what: 'page of the runs of a project',
    work: ({ database, projectId }) => listRuns(database, projectId, NO_FILTER),
    times: 20,
  },
  {
    what: 'page of its failed runs',
    work: ({ database, projectId }) => listRuns(database, projectId, { ...NO_FILTER, state: 'failed' }),
    times: 20,
  },
  {
    what: 'page of the runs of a routine',
    work: ({ database, projectId }) => listRuns(database, projectId, { ...NO_FILTER, routineId: routineId(0) }),
    times: 20,
  },
  {
    what: 'page of the cancelled runs of a routine',
    work: ({ database, projectId }) =>
      listRuns(database, projectId, {
        ...NO_FILTER,
        routineId: routineId(0),
        state: 'cancelled',
      }),
    times: 20,
  },
];

async function repeated(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n += 1) await work();
}

async function admitSome({ database }: Population): Promise<void> {
  const admitted = await admitRuns(database, RULE, ADMITTED_AT_ONCE);
  if (admitted.length !== ADMITTED_AT_ONCE) throw new Error(`admitted ${admitted.length}`);
}

/** Makes the statements of a manual run of one step, as API and worker make them. */
async function oneRun({ database, projectId, organizationId }: Population): Promise<void> {
  const id = newId('run');
  const run = { id, projectId, organizationId, plan: 'scale', routineId: routineId(1), startedBy: null } as const;
  await enqueueManualRun({ admission: { rule: RULE }, providerEnabled: () => true }, database, run);
  const begun = await beginStep(database, id, 0, undefined);
  if (begun === undefined) throw new Error('the run could not begin');
  const text = 'It is mild, the news is calm and the day goes on as planned.';
  const usage = {
    inputTokens: 120,
    cachedInputTokens: 0,
    outputTokens: 20,
    reasoningTokens: 0,
    estimated: false,
  };
  const ended = await recordStepAndSuccess(
    database,
    {
      runId: id,
      index: 0,
      attempt: begun.attempt,
      prompt: begun.instructions,
      briefing: null,
      skillRevisions: null,
      factsVersion: null,
      response: { text, messages: [], toolCalls: [], finishReason: 'stop', usage },
      messages: [{ role: 'assistant', content: text }],
      costUsd: '0.00003',
      warnings: [],
    },
    success(text),
    { keepsSeen: false, isAlone: true },
  );
  if (ended === undefined) throw new Error('the run was not recorded');
}

export default { scale } satisfies Benchmarks;
