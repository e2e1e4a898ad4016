import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proposals } from '#core/authoring/routines/index.ts';
import { sweepOpenRuns } from '#core/execution/runs/index.ts';
import { tickInProcess, tickSettled } from '#core/scheduling/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { changeRoutines } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { PATIENCE_MS } from '#test/support/properties.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { marker, type Json } from '#test/core/integrations/tools/support.ts';

let service: Service;
let key: ApiClient;

beforeAll(async () => {
  service = await startService({ worker: true });
  key = await (await signUp(service)).key();
});

afterAll(() => service.close());

function propose(id: string, patch: object, headers = {}) {
  return key.with(headers).post(`/v1/routines/${id}/proposals`, { patch });
}

/** Waits until the latest proposal of a routine has ended, and returns the routine. */
async function settled(id: string): Promise<Json> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { data } = await key.get(`/v1/routines/${id}`);
    if (data.proposal?.state !== 'open') return data;
    if (Date.now() > end) throw new Error('the proposal is still open');
    await sleep(50);
  }
}

const PARTLY = { name: 'finish', arguments: { outcome: 'partial', summary: 'One of two pages.' } };

/** Makes an active routine, and a marker for the instructions of a change. */
async function world() {
  const id = await activeRoutine(key, { instructions: 'Write the first line.' });
  const mark = marker();
  return { id, mark, patch: { instructions: `${mark} Write the second line.` } };
}

test('a change that its run proves becomes the routine’s, which has been active all the time', async () => {
  const { id, mark, patch } = await world();
  const release = service.gateway.control.hold({ marker: mark });
  const opened = await propose(id, { ...patch, schedule: '5 4 * * *', name: 'Renamed' });
  expect(opened.status).toBe(202);
  expect(opened.data).toMatchObject({ routineId: id, state: 'open', reason: null, warnings: [] });
  const meanwhile = (await key.get(`/v1/routines/${id}`)).data;
  expect(meanwhile).toMatchObject({ state: 'active', revision: 1, schedule: '0 7 * * *', name: 'Test routine' });
  expect(meanwhile.instructions).toBe('Write the first line.');
  expect((await key.get(`/v1/routines/${id}/versions`)).data).toHaveLength(1);
  // The schedule continues with the proven version.
  await changeRoutines(service.deps.database, id, { nextRunAt: AT_ONCE });
  tickInProcess(service.deps);
  await tickSettled(service.deps);
  const { data: scheduled } = await key.get(`/v1/routines/${id}/runs?trigger=schedule`);
  expect(await runEnded(key, scheduled[0].id)).toMatchObject({ state: 'succeeded', routineRevision: 1 });
  release();

  const taken = await settled(id);
  expect(taken).toMatchObject({ ...patch, state: 'active', revision: 2, schedule: '5 4 * * *', name: 'Renamed' });
  expect(taken.proposal).toMatchObject({ id: opened.data.id, state: 'taken', reason: null });
  expect(taken.activation.proofRunId).toBe(opened.data.runId);
  expect(taken.nextRunAt).toMatch(/T04:05:00/);
  expect((await key.get(`/v1/runs/${opened.data.runId}`)).data).toMatchObject({ routineRevision: 2 });
  const { data: versions } = await key.get(`/v1/routines/${id}/versions`);
  expect(versions.map(({ revision, changed }: Json) => [revision, changed])).toEqual([
    [2, ['instructions']],
    [1, []],
  ]);
  const read = await key.get(`/v1/routines/${id}/proposals/${opened.data.id}`);
  expect(read.data).toEqual(taken.proposal);
  expect((await runOnce(key, id)).routineRevision).toBe(2);
});

test.each([
  ['fails', 'run_failed', { kind: 'error' as const, status: 400 }],
  ['does a part of the work', 'run_partial', { kind: 'tool-calls' as const, calls: [PARTLY] }],
])('a change whose run %s is dropped, and the routine stays as it was', async (_, reason, behaviour) => {
  const { id, mark, patch } = await world();
  service.gateway.control.script({ marker: mark, behaviour });
  const opened = await propose(id, { ...patch, outcome: 'required', name: 'Renamed' });
  const run = await runEnded(key, opened.data.runId);
  const after = await settled(id);
  expect(after).toMatchObject({ state: 'active', revision: 1, name: 'Test routine' });
  expect(after.proposal).toMatchObject({ state: 'dropped', reason });
  // The tried version can still be read.
  const tried = await key.get(`/v1/routines/${id}/versions/${run.routineRevision}`);
  expect(tried.data.instructions).toBe(patch.instructions);
});

test.each([
  ['its run is cancelled', 'run_cancelled', (_: string, runId: string) => key.post(`/v1/runs/${runId}/cancel`)],
  ['the routine is changed', 'routine_changed', (id: string) => key.patch(`/v1/routines/${id}`, { name: 'Other' })],
  ['the routine is paused', 'routine_paused', (id: string) => key.post(`/v1/routines/${id}/pause`)],
  ['the routine is archived', 'routine_archived', (id: string) => key.delete(`/v1/routines/${id}`)],
])('a proposal is dropped when %s meanwhile, and its run ends', async (_, reason, act) => {
  const { id, mark, patch } = await world();
  service.gateway.control.hold({ marker: mark });
  const { data } = await propose(id, patch);
  expect((await act(id, data.runId)).status).toBeLessThan(300);
  const { proposal, revision, instructions } = await settled(id);
  expect(proposal).toMatchObject({ id: data.id, state: 'dropped', reason });
  expect([revision, instructions]).toEqual([1, 'Write the first line.']);
  expect((await runEnded(key, data.runId)).state).toBe('cancelled');
});

test('a run that is locked while its proposal is dropped is cancelled once it is free', async () => {
  const { id, mark, patch } = await world();
  service.gateway.control.hold({ marker: mark });
  const { data } = await propose(id, patch);
  await transaction(service.deps.database, async (tx) => {
    await tx.run`select from runs where id = ${data.runId} for no key update`;
    expect((await key.post(`/v1/routines/${id}/pause`)).status).toBe(200);
  });
  expect((await runEnded(key, data.runId)).state).toBe('cancelled');
});

test('a sweep cancels the run of a dropped proposal whose process died after the commit', async () => {
  const { id, mark, patch } = await world();
  service.gateway.control.hold({ marker: mark });
  const { data } = await propose(id, patch);
  const { data: project } = await key.get('/v1/project');
  const dying = { ...service.deps, emit: async () => {} };
  await proposals.withdrawProposal(dying, { projectId: project.id, routineId: id, id: data.id });
  await sweepOpenRuns(service.deps, new AbortController().signal);
  expect((await runEnded(key, data.runId)).state).toBe('cancelled');
});

test('a second proposal names the first, which can be withdrawn', async () => {
  const { id, mark, patch } = await world();
  service.gateway.control.hold({ marker: mark });
  const [one, other] = await Promise.all([propose(id, patch), propose(id, patch)]);
  const [first, second] = one.status === 202 ? [one, other] : [other, one];
  expect([first.status, second.status, second.body.error.code]).toEqual([202, 409, 'proposal_open']);
  expect(second.body.error.message).toContain(first.data.id);
  const address = `/v1/routines/${id}/proposals/${first.data.id}`;
  expect(second.headers.get('location')).toBe(address);

  expect((await key.delete(address)).data).toMatchObject({ state: 'dropped', reason: 'withdrawn' });
  expect((await runEnded(key, first.data.runId)).state).toBe('cancelled');
  expect((await key.delete(address)).data).toMatchObject({ reason: 'withdrawn' });
  // The next proposal replaces it.
  expect((await propose(id, { instructions: 'Write the third line.' })).status).toBe(202);
  expect((await settled(id)).proposal.state).toBe('taken');
  expect((await key.get(address)).body.error.code).toBe('proposal_not_found');
});

test('a repeated request opens one proposal', async () => {
  const { id, patch } = await world();
  const headers = { 'Idempotency-Key': marker() };
  const [first, again] = [await propose(id, patch, headers), await propose(id, patch, headers)];
  expect([first.status, again.status, again.data.id]).toEqual([202, 202, first.data.id]);
  expect((await settled(id)).revision).toBe(2);
});

test('a proposal is held to the rules of a change, and to an active routine', async () => {
  const draft = await createRoutine(key);
  const codeOf = async (request: ReturnType<typeof propose>) => {
    const { status, body } = await request;
    return [status, body.error.code];
  };
  expect(await codeOf(propose(draft, { instructions: 'Other.' }))).toEqual([409, 'routine_not_active']);
  const { id } = await world();
  expect(await codeOf(propose(id, { instructions: '{{unknown}}' }))).toEqual([400, 'invalid_variable']);
  expect(await codeOf(propose(id, { name: 'Only a name' }))).toEqual([400, 'invalid_request']);
  expect(await codeOf(propose(id, { externalKey: 'mine' }))).toEqual([400, 'invalid_request']);
  const stale = propose(id, { instructions: 'Other.' }, { 'If-Match': '"999"' });
  expect(await codeOf(stale)).toEqual([412, 'precondition_failed']);
  const writer = await (await signUp(service)).key();
  expect((await writer.post(`/v1/routines/${id}/proposals`, { patch: { instructions: 'Other.' } })).status).toBe(404);
});

test('a key that may not start runs proposes nothing', async () => {
  const person = await signUp(service);
  const id = await activeRoutine(await person.key());
  const writer = await person.key(['routines:read', 'routines:write']);
  const { status, body } = await writer.post(`/v1/routines/${id}/proposals`, { patch: { instructions: 'Other.' } });
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
});

test('the secret of a first webhook is shown with the proposal and signs once it is taken over', async () => {
  const { id, patch } = await world();
  const { data } = await propose(id, { ...patch, webhookUrl: 'https://example.com/hook' });
  expect(data.webhookSecret).toMatch(/^whsec_/);
  expect((await settled(id)).webhookUrl).toBe('https://example.com/hook');
});
