import { readFile } from 'node:fs/promises';
import { dyingProcess } from '#test/support/end-deps.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import {
  activateRoutine,
  restoreRoutine,
  stopRoutine,
  patchRoutine,
  ROUTINE_STATES,
} from '#core/authoring/routines/index.ts';
import { ROUTINE_TRANSITIONS } from '#core/authoring/routines/states.ts';
import { pauseStopped } from '#core/authoring/routines/service-pauses.ts';
import type { RoutineState } from '#core/authoring/routines/routine.ts';
import {
  cancellation,
  failure,
  RUN_STATES,
  RUN_TRANSITIONS,
  type RunEnding,
  type RunState,
} from '#core/execution/run-states/index.ts';
import { cancelRun } from '#core/execution/runs/index.ts';
import { beginStep } from '#core/execution/steps/begin-step.ts';
import { recordEnd } from '#core/execution/runs/end-run.ts';
import { skip, success } from '#core/execution/run-states/states.ts';
import { transaction, type Database } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { startService, type Service } from '#test/support/service.ts';
import { changeRoutines, plantRun } from '#test/support/given.ts';
import { renderStatesPage, STATES_PAGE } from '../../../../docs/generate/run-states.ts';

let service: Service;
let database: Database;
let routine: Planted;

beforeAll(async () => {
  service = await startService();
  ({ database } = service.deps);
  routine = await plantRoutine(database);
});
afterAll(() => service.close());

test('docs/run-states.md shows the states and transitions of the code', async () => {
  const page = await readFile(STATES_PAGE, 'utf8');
  expect(page).toBe(renderStatesPage(page));
  expect(page).toContain('| `running` | `succeeded` |');
});

function ends(ending: RunEnding) {
  return (id: string): Promise<unknown> =>
    transaction(database, (tx) => recordEnd(dyingProcess(database), tx, id, ending));
}

const RUN_OPERATIONS: Record<string, { to: RunState; act: (id: string) => Promise<unknown> }> = {
  'a step begins': { to: 'running', act: (id) => beginStep(database, id, 0, undefined) },
  'it succeeds': {
    to: 'succeeded',
    act: ends(success('done')),
  },
  'it fails': { to: 'failed', act: ends(failure('timeout')) },
  'its cancellation is carried out': { to: 'cancelled', act: ends(cancellation) },
  'its gate sees no change': { to: 'skipped', act: ends(skip('no_change')) },
};

test.each(Object.entries(RUN_OPERATIONS))(
  'a run changes its state as the table says, and otherwise not at all: %s',
  async (_name, { to, act }) => {
    const entries = RUN_TRANSITIONS.filter((transition) => transition.to === to);
    const allowed = new Set<RunState>(entries.flatMap(({ from }) => [...from]));
    for (const from of RUN_STATES) {
      const id = await plantRun(database, routine.id, { state: from });
      await act(id);
      const after = await database.row<{
        state: RunState;
      }>`select state from runs where id = ${id}`;
      expect(after!.state, `from ${from}`).toBe(allowed.has(from) ? to : from);
    }
  },
);

test('a run under way is skipped for no other reason than its gate', async () => {
  const id = await plantRun(database, routine.id, { state: 'running' });
  await ends(skip('paused'))(id);
  const after = await database.row`select state from runs where id = ${id}`;
  expect(after).toEqual({ state: 'running' });
});

test('a cancellation that is asked for ends a queued run and leaves one under way to its step', async () => {
  const ask = async (from: RunState) => {
    const id = await plantRun(database, routine.id, { state: from });
    return cancelRun(service.deps, routine.projectId, id).then(
      (run) => run.state,
      ({ code }: { code: string }) => code,
    );
  };
  const answers = await Promise.all(RUN_STATES.map(async (from) => [from, await ask(from)]));
  expect(Object.fromEntries(answers)).toEqual({
    queued: 'cancelled',
    running: 'running',
    succeeded: 'run_not_cancellable',
    failed: 'run_not_cancellable',
    cancelled: 'run_not_cancellable',
    skipped: 'run_not_cancellable',
  });
});

const ROUTINE_OPERATIONS: Record<
  string,
  {
    to: RoutineState;
    by: (typeof ROUTINE_TRANSITIONS)[number]['by'][number];
    act: (planted: Planted) => Promise<unknown>;
  }
> = {
  'it is activated': {
    to: 'active',
    by: 'person',
    act: ({ id, projectId, organizationId }) =>
      activateRoutine(database, SYSTEM, { id, projectId, organizationId, plan: 'scale' }),
  },
  'it is paused': {
    to: 'paused',
    by: 'person',
    act: ({ id, projectId }) => stopRoutine(service.deps, SYSTEM, { projectId, id, state: 'paused' }),
  },
  'it is archived': {
    to: 'archived',
    by: 'person',
    act: ({ id, projectId }) => stopRoutine(service.deps, SYSTEM, { projectId, id, state: 'archived' }),
  },
  'it is restored': {
    to: 'draft',
    by: 'restorer',
    act: ({ id, projectId }) => restoreRoutine(database, SYSTEM, { projectId, id }),
  },
  'its instructions are changed': {
    to: 'draft',
    by: 'person',
    act: async ({ id, projectId }) => {
      const patch = { instructions: 'Write something else.' };
      const saved = await patchRoutine(service.deps, {
        id,
        projectId,
        patch,
        expectedVersions: undefined,
        origin: { actor: null },
        by: SYSTEM,
      });
      return saved.routine;
    },
  },
  'its tools are changed': {
    to: 'draft',
    by: 'service',
    act: ({ id, projectId }) =>
      service.deps.emit(database, 'tools.changed', {
        projectId,
        routineIds: [id],
        reason: 'a change',
        by: SYSTEM,
      }),
  },
  'its schedule can no longer be computed': {
    to: 'paused',
    by: 'service',
    act: ({ id }) => pauseStopped(database, { unreadable: [id], ended: [] }),
  },
  'too many of its scheduled runs fail in a row': {
    to: 'paused',
    by: 'service',
    act: async ({ id }) => {
      await changeRoutines(database, id, { pauseAfterFailures: 1 });
      const runId = await plantRun(database, id, { trigger: 'schedule', state: 'running' });
      await ends(failure('timeout'))(runId);
    },
  },
};

test.each(Object.entries(ROUTINE_OPERATIONS))(
  'a routine changes its state as the table says, and otherwise not at all: %s',
  async (_name, { to, by, act }) => {
    const entries = ROUTINE_TRANSITIONS.filter(
      (transition) => transition.to === to && transition.by.some((mover) => mover === by),
    );
    const allowed = new Set<RoutineState>(entries.flatMap(({ from }) => [...from]));
    for (const from of ROUTINE_STATES) {
      const planted = await plantRoutine(database, { nextRunAt: new Date() });
      await plantRun(database, planted.id, { state: 'succeeded' });
      await changeRoutines(database, planted.id, { state: from });
      await act(planted).catch((error: { code: string }) => {
        expect([from, error.code]).toEqual(['archived', 'routine_archived']);
      });
      const after = await database.row<{
        state: RoutineState;
      }>`select state from routines where id = ${planted.id}`;
      expect(after!.state, `from ${from}`).toBe(allowed.has(from) ? to : from);
    }
  },
);
