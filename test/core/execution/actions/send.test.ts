import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eraseActions, sendAction, startDueActions } from '#core/execution/actions/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { changeActions, changeConnections } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { confirm } from '../../integrations/tools/support.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking, ticked } from './support.ts';
import { startTracker, type Tracker } from './tracker.ts';

let service: Service;
let tracker: Tracker;
let person: Person;
let client: ApiClient;

beforeAll(async () => {
  [service, tracker] = await Promise.all([startService({ worker: true }), startTracker()]);
  person = await signUp(service);
  client = person.session.with({ 'X-Project-Id': person.projectId });
});
function answering() {
  return { content: [{ type: 'text', text: 'filed' }], structuredContent: { id: 41, title: 'filed' } };
}
beforeEach(() => {
  tracker.calls.length = 0;
  tracker.away = undefined;
  tracker.breaks = false;
  tracker.refuses = undefined;
  tracker.isIdempotent = false;
  tracker.held = undefined;
  tracker.answer = answering;
});
afterAll(async () => {
  await tracker?.stop();
  await service?.close();
});

const ISSUE = { name: 'create_issue', arguments: { title: 'Broken link' } };
const COMMENT = {
  name: 'comment',
  arguments: { issue: '{{action_1.result./id}}', text: 'Filed as {{action_1.result./id}}.' },
};

async function held(...calls: { name: string; arguments: object }[]) {
  const routine = await holdingRoutine(client, ['create_issue', 'comment'], { url: tracker.url });
  const { run, steps } = await runAsking({ service, client }, routine, ...calls);
  const actions = (await actionsOf(client, `routineId=${routine.routineId}`)).toReversed();
  return { routine, run, steps, actions };
}

async function read(id: string) {
  return (await client.get(`/v1/actions/${id}`)).data;
}

test('while the server is away the action stays approved, and it is sent once the server is back', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  tracker.away = 'dropped';
  await approve(client, action);
  await expect.poll(async () => (await read(action.id)).errorMessage).toMatch(/cannot be reached/);
  expect(await read(action.id)).toMatchObject({ state: 'approved', sentAt: null });
  tracker.away = undefined;
  await changeActions(service.deps.database, action.id, { startAt: AT_ONCE });
  await startDueActions(service.deps);
  expect(await actionEnded(client, action.id)).toMatchObject({ state: 'done', errorMessage: null });
  expect(tracker.calls).toHaveLength(1);
});

test('an action whose server stays away until it expires is closed, and was never sent', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  tracker.away = 503;
  await approve(client, action);
  await expect.poll(async () => (await read(action.id)).errorMessage).toMatch(/cannot be reached/);
  const past = { expiresAt: AT_ONCE, startAt: AT_ONCE };
  await changeActions(service.deps.database, action.id, { ...past, decidedAt: new Date(Date.now() - 2 * 3_600_000) });
  await ticked(service);
  expect(await read(action.id)).toMatchObject({ state: 'closed', reason: 'unreachable' });
  expect(tracker.calls).toEqual([]);
});

const BROKEN =
  'a connection that breaks after the call has arrived leaves the outcome unknown, and nothing is sent again';

test.each([false, true])(`${BROKEN} (idempotent: %s)`, async (isIdempotent) => {
  tracker.isIdempotent = isIdempotent;
  const {
    routine,
    actions: [action],
  } = await held(ISSUE);
  if (isIdempotent) await confirm(client, routine, ['create_issue']);
  tracker.breaks = true;
  await approve(client, action);
  expect(await actionEnded(client, action.id)).toMatchObject({ state: 'outcome_unknown' });
  tracker.breaks = false;
  await ticked(service);
  expect((await approve(client, action)).data.state).toBe('outcome_unknown');
  expect(tracker.calls).toHaveLength(1);
});

test('a server that asks for another sign-in at the call itself has done nothing: the action is sent later', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  tracker.refuses = 401;
  await approve(client, action);
  await expect.poll(async () => (await read(action.id)).errorMessage).toMatch(/is tried again/);
  expect(await read(action.id)).toMatchObject({ state: 'approved', sentAt: null });
  tracker.refuses = undefined;
  await changeActions(service.deps.database, action.id, { startAt: AT_ONCE });
  await startDueActions(service.deps);
  expect((await actionEnded(client, action.id)).state).toBe('done');
  expect(tracker.calls).toHaveLength(1);
});

test('an answer that comes after the texts of the run were erased is not kept', async () => {
  const {
    run,
    actions: [action],
  } = await held(ISSUE);
  const answered = Promise.withResolvers<void>();
  tracker.held = answered.promise;
  await approve(client, action);
  await expect.poll(() => tracker.calls).toHaveLength(1);
  await transaction(service.deps.database, (tx) => eraseActions(tx, [run.id]));
  answered.resolve();
  expect(await actionEnded(client, action.id)).toMatchObject({ state: 'done', arguments: null, result: null });
});

test('a tool that answers with an error has failed, without the secrets of its answer', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  tracker.answer = () => ({ isError: true, content: [{ type: 'text', text: 'no, sk-0123456789abcdefghijklmn' }] });
  await approve(client, action);
  expect(await actionEnded(client, action.id)).toMatchObject({
    state: 'failed',
    isError: true,
    result: 'no, [redacted]',
  });
});

test('an approval whose workflow could not be started is started by a tick', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  const { engine } = service.deps;
  const away = {
    ...service.deps,
    engine: { ...engine, startAction: () => Promise.reject(new Error('Temporal is away')) },
  };
  await changeActions(service.deps.database, action.id, { state: 'approved', startAt: AT_ONCE, decidedAt: AT_ONCE });
  expect(await startDueActions(away)).toBe(0);
  expect((await read(action.id)).state).toBe('approved');
  await changeActions(service.deps.database, action.id, { startAt: AT_ONCE });
  await ticked(service);
  expect((await actionEnded(client, action.id)).state).toBe('done');
  expect(tracker.calls).toHaveLength(1);
});

test('an action that its worker left while it was sent has an unknown outcome once the lease is over', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  await changeActions(service.deps.database, action.id, { state: 'sending', startAt: AT_ONCE, decidedAt: AT_ONCE });
  await ticked(service);
  expect((await read(action.id)).state).toBe('outcome_unknown');
  expect(tracker.calls).toEqual([]);
});

test('an attempt that finds the call marked by an earlier one sends nothing, and its outcome is unknown', async () => {
  const {
    actions: [action],
  } = await held(ISSUE);
  await changeActions(service.deps.database, action.id, { state: 'sending', decidedAt: AT_ONCE });
  const attempt = { id: action.id, attempt: 0 };
  const send = () => sendAction(service.deps, attempt, new AbortController().signal);
  expect([await send(), await send()]).toEqual(['outcome_unknown', 'skipped']);
  expect((await read(action.id)).state).toBe('outcome_unknown');
  expect(tracker.calls).toEqual([]);
});

test('a call that refers to another one is sent after it, with the value of its result', async () => {
  const { actions, steps } = await held(ISSUE, COMMENT);
  const [issue, comment] = actions;
  expect(steps[1].tool.action).toEqual({ id: comment.id, name: 'action_2' });
  expect(comment.refersTo).toEqual([issue.id]);
  expect(comment.arguments.issue).toBe(`{{${issue.id}.result./id}}`);
  const early = await approve(client, comment);
  expect([early.status, early.body.error.code]).toEqual([409, 'action_waits']);
  const both = [comment, issue].map(({ id, digest }) => ({ id, digest }));
  const { data } = await client.post('/v1/actions/approve', { actions: both });
  expect(data.map(({ error }: { error: unknown }) => error)).toEqual([null, null]);
  expect((await actionEnded(client, comment.id)).state).toBe('done');
  expect(tracker.calls).toEqual([
    { name: 'create_issue', arguments: ISSUE.arguments },
    { name: 'comment', arguments: { issue: 41, text: 'Filed as 41.' } },
  ]);
});

test('what refers to a call with other arguments gets the result of that one', async () => {
  const {
    actions: [issue, comment],
  } = await held(ISSUE, COMMENT);
  const edited = await approve(client, issue, { arguments: { title: 'Other words' } });
  await actionEnded(client, edited.data.id);
  expect((await approve(client, comment)).status).toBe(200);
  expect((await actionEnded(client, comment.id)).state).toBe('done');
  expect(tracker.calls.at(-1)?.arguments.issue).toBe(41);
});

test('what refers to a call that failed, was rejected or expired, or to a value that is not there, is closed', async () => {
  const [failed, rejected, missing] = [
    await held(ISSUE, COMMENT),
    await held(ISSUE, COMMENT),
    await held(ISSUE, COMMENT),
  ];
  await client.post(`/v1/actions/${rejected.actions[0].id}/reject`);
  expect(await read(rejected.actions[1].id)).toMatchObject({ state: 'closed', reason: 'reference_ended' });

  tracker.answer = () => ({ isError: true, content: [] });
  await client.post('/v1/actions/approve', { actions: failed.actions.map(({ id, digest }) => ({ id, digest })) });
  expect(await actionEnded(client, failed.actions[1].id)).toMatchObject({ state: 'closed', reason: 'reference_ended' });

  tracker.answer = () => ({ content: [{ type: 'text', text: 'filed' }] });
  await client.post('/v1/actions/approve', { actions: missing.actions.map(({ id, digest }) => ({ id, digest })) });
  expect(await actionEnded(client, missing.actions[1].id)).toMatchObject({
    state: 'closed',
    reason: 'reference_missing',
  });
  expect(tracker.calls.map(({ name }) => name)).toEqual(['create_issue', 'create_issue']);
});

test('a call may refer to one that an earlier run asked for, and ends with it, also where that run is erased', async () => {
  const { routine, run } = await held(ISSUE);
  await runAsking({ service, client }, routine, ISSUE, COMMENT, {
    ...COMMENT,
    arguments: { issue: 1, text: '{{action_1.result./id}}' },
  });
  const [other, comment, issue] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect([issue.times, comment.refersTo, other.refersTo]).toEqual([2, [issue.id], [issue.id]]);
  const args = { ...comment.arguments, text: 'In other words' };
  const early = await approve(client, comment, { arguments: args });
  expect(early.body.error.code).toBe('action_waits');
  await transaction(service.deps.database, (tx) => eraseActions(tx, [run.id]));
  expect((await approve(client, other)).body.error.code).toBe('action_not_allowed');
  expect(await read(other.id)).toMatchObject({ state: 'closed', reason: 'reference_ended' });
  expect((await approve(client, comment, { arguments: args })).body.error.code).toBe('action_not_allowed');
  expect(await read(comment.id)).toMatchObject({ state: 'open' });
});

test('the values of all references of a call together have an end', async () => {
  tracker.answer = () => ({ content: [], structuredContent: { id: 'x'.repeat(250_000), title: 'filed' } });
  const text = '{{action_1.result./id}}'.repeat(5);
  const { actions } = await held(ISSUE, { name: 'comment', arguments: { issue: 1, text } });
  await client.post('/v1/actions/approve', { actions: actions.map(({ id, digest }) => ({ id, digest })) });
  expect(await actionEnded(client, actions[1].id)).toMatchObject({ state: 'closed', reason: 'reference_missing' });
  expect(tracker.calls).toHaveLength(1);
});

test('a value of the wrong type is refused before it is sent', async () => {
  const {
    actions: [issue, comment],
  } = await held(ISSUE, { ...COMMENT, arguments: { issue: '{{action_1.result./title}}', text: 'x' } });
  await approve(client, issue);
  await actionEnded(client, issue.id);
  await approve(client, comment);
  expect(await actionEnded(client, comment.id)).toMatchObject({ state: 'failed', reason: 'call_refused' });
  expect(tracker.calls).toHaveLength(1);
});

test('a connection with another address since closes what was seen for the old one', async () => {
  const { actions, routine } = await held(ISSUE);
  await changeConnections(service.deps.database, routine.connectionId, { url: `${tracker.url}/other` });
  const answer = await approve(client, actions[0]);
  expect([answer.status, answer.body.error.code]).toEqual([409, 'action_not_allowed']);
  expect(await read(actions[0].id)).toMatchObject({ state: 'closed', reason: 'connection_changed' });
  expect(tracker.calls).toEqual([]);
});
