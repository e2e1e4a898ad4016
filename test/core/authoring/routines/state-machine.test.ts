import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { sized, TIMES } from '#test/support/properties.ts';

let service: Service;
let key: ApiClient;

beforeAll(async () => {
  service = await sharedService({ worker: true });
  key = await (await signUp(service)).key();
});

/** Model of a routine as the contract describes it, without the service. */
interface Model {
  state: 'draft' | 'active' | 'paused' | 'archived';
  revision: number;
  /** True when a manual run of this revision has succeeded. */
  proven: boolean;
  runs: number;
}

interface Real {
  readonly id: string;
  text: number;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Makes a command that performs one operation, and compares its response and its effect with the contract. */
function command(name: string, act: (model: Model, real: Real) => Promise<void>): fc.Arbitrary<Command> {
  return fc.constant({
    check: () => true,
    async run(model, real) {
      await act(model, real);
      const { data } = await key.get(`/v1/routines/${real.id}`);
      expect({ after: name, state: data.state, revision: data.revision }).toEqual({
        after: name,
        state: model.state,
        revision: model.revision,
      });
      // A routine has a next time if and only if it is active.
      expect([name, data.nextRunAt === null]).toEqual([name, model.state !== 'active']);
      expect(data.archivedAt === null).toBe(model.state !== 'archived');
      const { data: runs } = await key.get(`/v1/routines/${real.id}/runs`);
      expect(runs).toHaveLength(model.runs);
    },
    toString: () => name,
  });
}

async function expectAnswer(model: Model, answer: ReturnType<ApiClient['get']>, status: number, code?: string) {
  const { status: got, body } = await answer;
  expect([got, body.error?.code]).toEqual(model.state === 'archived' ? [409, 'routine_archived'] : [status, code]);
}

const commands = [
  command('change the instructions', async (model, real) => {
    real.text += 1;
    const patch = { instructions: `Write ${real.text}.` };
    await expectAnswer(model, key.patch(`/v1/routines/${real.id}`, patch), 200);
    if (model.state === 'archived') return;
    Object.assign(model, { state: 'draft', revision: model.revision + 1, proven: false });
  }),
  command('change the name', async (model, real) => {
    await expectAnswer(model, key.patch(`/v1/routines/${real.id}`, { name: 'Renamed' }), 200);
  }),
  command('change the schedule', async (model, real) => {
    await expectAnswer(model, key.patch(`/v1/routines/${real.id}`, { schedule: '5 4 * * *' }), 200);
  }),
  command('write the same instructions again', async (model, real) => {
    const patch = { instructions: `Write ${real.text}.` };
    await expectAnswer(model, key.patch(`/v1/routines/${real.id}`, patch), 200);
  }),
  command('run and succeed', async (model, real) => {
    if (model.state === 'archived') return refusedRun(model, real);
    expect((await runOnce(key, real.id)).state).toBe('succeeded');
    Object.assign(model, { proven: true, runs: model.runs + 1 });
  }),
  command('run and fail', async (model, real) => {
    if (model.state === 'archived') return refusedRun(model, real);
    service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
    expect((await runOnce(key, real.id)).state).toBe('failed');
    model.runs += 1;
  }),
  command('activate', async (model, real) => {
    const refused = model.state !== 'active' && !model.proven;
    const [status, code] = refused ? [409, 'successful_run_required'] : [200, undefined];
    await expectAnswer(model, key.post(`/v1/routines/${real.id}/activate`), status, code);
    if (model.state !== 'archived' && !refused) model.state = 'active';
  }),
  command('pause', async (model, real) => {
    await expectAnswer(model, key.post(`/v1/routines/${real.id}/pause`), 200);
    if (model.state !== 'archived') model.state = 'paused';
  }),
];

const archive = command('archive', async (model, real) => {
  expect((await key.delete(`/v1/routines/${real.id}`)).status).toBe(200);
  model.state = 'archived';
});

test(
  'a routine does what the model of its states says, in any order of requests',
  {
    ...proves(
      'state.activate',
      'state.activate-refused',
      'state.pause',
      'state.archive',
      'POST /v1/routines/:routineId/activate',
      'POST /v1/routines/:routineId/pause',
      'DELETE /v1/routines/:routineId',
    ),
  },
  async () => {
    const sequences = fc.commands(
      // Archiving ends the sequence, so it is the rarest command.
      [...commands, ...commands, archive],
      { maxCommands: 14, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const id = await createRoutine(key, { instructions: 'Write 0.' });
        const model: Model = { state: 'draft', revision: 1, proven: false, runs: 0 };
        await fc.asyncModelRun(() => ({ model, real: { id, text: 0 } }), sequence);
      }),
      { numRuns: sized(25) * TIMES, endOnFailure: true },
    );
  },
);

async function refusedRun(model: Model, real: Real): Promise<void> {
  await expectAnswer(model, key.post(`/v1/routines/${real.id}/run`), 202);
}
