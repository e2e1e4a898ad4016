import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  connectByDevice,
  connectWithKey,
  goodKey,
  newOwner,
  startModelFixture,
  storedRow,
  type ModelFixture,
  type OwnSession,
} from '#test/core/models/connections/fixture.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { MODEL, modelOn } from './world.ts';

let fixture: ModelFixture;
let owner: OwnSession;

beforeAll(async () => {
  fixture = await startModelFixture({ worker: true });
  owner = await newOwner(fixture);
});
afterAll(() => fixture?.close());
beforeEach(() => fixture.providers.control.reset());

function completions() {
  return fixture.providers.control.requests().filter(({ method }) => method === 'POST');
}

function failuresOf(runId: string) {
  return fixture.service.deps.database
    .rows`select state, failure from model_calls where run_id = ${runId} order by attempt`;
}

test('a token that the provider refuses in a run is renewed once, and the next attempt has the new one', async () => {
  const { session } = owner;
  const { id } = await connectByDevice(fixture, session);
  const before = await storedRow(fixture, id);
  const routineId = await createRoutine(session, { model: modelOn('provider-a', id) });
  fixture.providers.control.reset();
  fixture.providers.control.script({ kind: 'error', status: 401 });
  const run = await runOnce(session, routineId);
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
  const tokens = completions().map(({ headers }) => headers.authorization);
  expect(new Set(tokens).size).toBe(2);
  expect(await failuresOf(run.id)).toEqual([
    { state: 'failed', failure: 'credential_refused' },
    { state: 'succeeded', failure: null },
  ]);
  const after = await storedRow(fixture, id);
  expect(after['credential_version']).toBe(Number(before['credential_version']) + 1);
});

test('a renewed token that is refused too takes the account out of use, after two attempts and no more', async () => {
  const { session } = owner;
  const { id } = await connectByDevice(fixture, session);
  const routineId = await createRoutine(session, { model: modelOn('provider-a', id) });
  fixture.providers.control.reset();
  fixture.providers.control.script(...Array.from({ length: 5 }, () => ({ kind: 'error' as const, status: 401 })));
  const run = await runOnce(session, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_credential_refused' });
  expect(completions()).toHaveLength(2);
  expect(await storedRow(fixture, id)).toMatchObject({
    state: 'needs_reauthorization',
    public_error: 'authorization_revoked',
  });
});

test('a key that the provider refuses is not tried twice', async () => {
  const { session } = owner;
  const key = goodKey(fixture);
  const { data } = await connectWithKey(session, key);
  const routineId = await createRoutine(session, { model: modelOn('provider-c', data.id, MODEL) });
  fixture.providers.control.credentials.delete(key);
  fixture.providers.control.reset();
  const run = await runOnce(session, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_credential_refused' });
  expect(completions()).toHaveLength(1);
});
