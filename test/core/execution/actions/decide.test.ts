import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { approveAsked, codeOf as codeIn, enterAssistant, exchange } from '#test/support/assistants.ts';
import { ApiClient, type Answer } from '#test/support/client.ts';
import { lockWaits } from '#test/support/database.ts';
import { changeActions, giveRole } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { assistantOf } from '#test/api/mcp/support.ts';
import { confirm, policyPath, scriptCalls, type Json } from '../../integrations/tools/support.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking, ticked } from './support.ts';
import { startTracker, type Tracker } from './tracker.ts';

let service: Service;
let tracker: Tracker;
let person: Person;
let client: ApiClient;

beforeAll(async () => {
  [service, tracker] = await Promise.all([startService({ worker: true }), startTracker()]);
  person = await signUp(service);
  client = sessionOf(person);
});
beforeEach(() => {
  tracker.calls.length = 0;
});
afterAll(async () => {
  await tracker?.stop();
  await service?.close();
});

function sessionOf({ session }: Person, { projectId } = person) {
  return session.with({ 'X-Project-Id': projectId });
}

const ISSUE = { name: 'create_issue', arguments: { title: 'Broken link', priority: 2 } };

async function heldIssue(given: Partial<Parameters<typeof holdingRoutine>[2]> = {}, caller = client) {
  const routine = await holdingRoutine(caller, ['create_issue'], { url: tracker.url, ...given });
  const { run } = await runAsking({ service, client: caller }, routine, ISSUE);
  const [action] = await actionsOf(caller, `routineId=${routine.routineId}`);
  return { routine, run, action };
}

function codeOf({ status, body }: Answer): unknown[] {
  return [status, body.error?.code];
}

test('two people who approve at once get the same answer, and the call is sent once', async () => {
  const other = await signUp(service);
  await giveRole(service.deps.database, person.organizationId, other.userId, 'member');
  const { action } = await heldIssue();
  const answers = await Promise.all([client, sessionOf(other), client].map((each) => approve(each, action)));
  expect(answers.map(({ status, data }) => [status, data?.id])).toEqual(answers.map(() => [200, action.id]));
  expect(new Set(answers.map(({ data }) => data.decidedBy.id)).size).toBe(1);
  await actionEnded(client, action.id);
  expect(tracker.calls).toHaveLength(1);
});

test('each decision looks for calls to send at its end: a look passes over what another one still locks', async () => {
  const { action } = await heldIssue();
  const { database, work } = service.deps;
  const nudge = vi.spyOn(work, 'nudge');
  onTestFinished(() => nudge.mockRestore());
  const answers = await transaction(database, async (tx) => {
    await tx.run`select from actions where id = ${action.id} for update`;
    const all = Array.from({ length: 4 }, () => approve(client, action));
    await expect.poll(() => lockWaits(database)).toBe(all.length);
    return { all };
  });
  expect((await Promise.all(answers.all)).map(({ status }) => status)).toEqual(answers.all.map(() => 200));
  await actionEnded(client, action.id);
  // The end of the call triggers one more look, for actions that refer to the call.
  const looks = nudge.mock.calls.filter(([name]) => name === 'actions');
  expect(looks.length).toBeGreaterThanOrEqual(answers.all.length);
  expect(tracker.calls).toHaveLength(1);
});

test('one who approves and one who rejects at once: one decision counts', async () => {
  const { action } = await heldIssue();
  const [approved, rejected] = await Promise.all([
    approve(client, action),
    client.post(`/v1/actions/${action.id}/reject`, { reason: 'No.' }),
  ]);
  expect(new Set([approved.status, rejected.status])).toEqual(new Set([200, 409]));
  const { state } = await actionEnded(client, action.id);
  expect(state).toBe(approved.status === 200 ? 'done' : 'rejected');
  expect(tracker.calls).toHaveLength(approved.status === 200 ? 1 : 0);
});

test('another digest than the shown one, or none, is refused, and nothing is sent', async () => {
  const { action } = await heldIssue();
  expect(codeOf(await client.post(`/v1/actions/${action.id}/approve`))).toEqual([409, 'action_differs']);
  const other = { id: action.id, digest: '0'.repeat(64) };
  expect(codeOf(await approve(client, other))).toEqual([409, 'action_differs']);
  for (const tag of [`W/"${action.digest}"`, `"${action.digest}0"`, `x${action.digest}`, '*']) {
    const tagged = client.with({ 'If-Match': tag });
    expect(codeOf(await tagged.post(`/v1/actions/${action.id}/approve`))).toEqual([409, 'action_differs']);
  }
  expect((await client.get(`/v1/actions/${action.id}`)).headers.get('etag')).toBe(`"${action.digest}"`);
  expect((await client.get(`/v1/actions/${action.id}`)).data.state).toBe('open');
});

test('an action whose time is over is rejected as expired, by the approval and by a tick', async () => {
  const [one, other] = [await heldIssue(), await heldIssue()];
  await changeActions(service.deps.database, [one.action.id, other.action.id], { expiresAt: AT_ONCE });
  expect(codeOf(await approve(client, one.action))).toEqual([409, 'action_closed']);
  await ticked(service);
  for (const { action } of [one, other]) {
    expect((await client.get(`/v1/actions/${action.id}`)).data).toMatchObject({ state: 'rejected', reason: 'expired' });
    expect(codeOf(await approve(client, action))).toEqual([409, 'action_closed']);
  }
  expect(tracker.calls).toEqual([]);
});

test('a definition that has changed, a disabled tool, a deleted connection and an archived routine close an action', async () => {
  const [changed, disabled, removed, archived] = [
    await heldIssue(),
    await heldIssue(),
    await heldIssue(),
    await heldIssue(),
  ];
  tracker.description = 'Does something else.';
  const { routineId, connectionId } = changed.routine;
  await client.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  tracker.description = 'Files something.';
  await client.patch(policyPath(disabled.routine.routineId, { id: disabled.routine.policyOf('create_issue') }), {
    state: 'disabled',
  });
  await client.delete(`/v1/connections/${removed.routine.connectionId}`);
  await client.delete(`/v1/routines/${archived.routine.routineId}`);
  const reasons = {
    tool_changed: changed,
    tool_disabled: disabled,
    connection_removed: removed,
    routine_archived: archived,
  };
  for (const [reason, { action }] of Object.entries(reasons)) {
    expect((await client.get(`/v1/actions/${action.id}`)).data).toMatchObject({ state: 'closed', reason });
    expect(codeOf(await approve(client, action))).toEqual([409, 'action_closed']);
  }
});

test('a tool that its server changed without a discovery is found changed when the call is to be sent', async () => {
  const { action, routine } = await heldIssue();
  tracker.description = 'Deletes everything.';
  expect((await approve(client, action)).status).toBe(200);
  expect(await actionEnded(client, action.id)).toMatchObject({ state: 'closed', reason: 'tool_changed' });
  tracker.description = 'Files something.';
  expect(tracker.calls).toEqual([]);
  const { data } = await client.get(`/v1/routines/${routine.routineId}/tools`);
  expect(data.find(({ name }: Json) => name === 'create_issue').state).toBe('disabled');
});

test('other arguments are an action of their own, which says what was changed; the same approval again gives it again', async () => {
  const { action } = await heldIssue();
  const args = { title: 'Broken link on /pricing', priority: 2, url: 'https://example.com' };
  const edited = await approve(client, action, { arguments: args });
  expect(edited.data).toMatchObject({ state: 'approved', replaces: action.id, arguments: args });
  expect(edited.data.digest).not.toBe(action.digest);
  const again = await approve(client, action, { arguments: args });
  expect([again.status, again.data.id]).toEqual([200, edited.data.id]);
  expect(codeOf(await approve(client, action))).toEqual([409, 'action_closed']);
  expect(await actionEnded(client, edited.data.id)).toMatchObject({
    state: 'done',
    changes: [
      { path: '/title', before: 'Broken link', after: args.title },
      { path: '/url', after: args.url },
    ],
  });
  expect((await client.get(`/v1/actions/${action.id}`)).data).toMatchObject({
    state: 'replaced',
    replacedBy: edited.data.id,
  });
  expect(tracker.calls).toEqual([{ name: 'create_issue', arguments: args }]);
});

test('other arguments that break the schema, the limits or a reference are refused, and the action stays open', async () => {
  const argumentSchema = { properties: { priority: { maximum: 3 } } };
  const { action } = await heldIssue({ limits: { argumentSchema } });
  const faulty = [
    { priority: 1 },
    { title: 'x'.repeat(201) },
    { title: 'fine', priority: 4 },
    { title: '{{act_01kx3k9y6wfd8r0v5m2c7t4q5e.result./id}}' },
    { title: `{{${action.id}.result./id}}` },
  ];
  for (const args of faulty) {
    const { status, body } = await approve(client, action, { arguments: args });
    expect([status, body.error?.code, body.error?.message]).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(/^arguments: /),
    ]);
  }
  expect((await client.get(`/v1/actions/${action.id}`)).data.state).toBe('open');
  expect(tracker.calls).toEqual([]);
});

test('a policy that was narrowed since refuses the call as it is, and lets it through with other arguments', async () => {
  const { action, routine } = await heldIssue();
  const policy = policyPath(routine.routineId, { id: routine.policyOf('create_issue') });
  await client.patch(policy, { state: 'hold', argumentSchema: { properties: { priority: { maximum: 1 } } } });
  expect(codeOf(await approve(client, action))).toEqual([409, 'action_not_allowed']);
  const edited = await approve(client, action, { arguments: { title: 'Broken link', priority: 1 } });
  expect(edited.status).toBe(200);
});

test('no more calls of a run are approved than its policy allows now', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const another = { ...ISSUE, arguments: { title: 'Another' } };
  await runAsking({ service, client }, routine, ISSUE, another);
  const [second, first] = await actionsOf(client, `routineId=${routine.routineId}`);
  const policy = policyPath(routine.routineId, { id: routine.policyOf('create_issue') });
  await client.patch(policy, { state: 'hold', maxCallsPerRun: 1 });
  expect((await approve(client, first)).status).toBe(200);
  expect(codeOf(await approve(client, second))).toEqual([409, 'action_not_allowed']);
});

test('the key that started the run decides nothing; another key and a person do', async () => {
  const [starter, other] = [await person.key(), await person.key()];
  const { action, routine } = await heldIssue({}, starter);
  expect(codeOf(await approve(starter, action))).toEqual([403, 'own_action']);
  expect(codeOf(await starter.post(`/v1/actions/${action.id}/reject`))).toEqual([403, 'own_action']);
  const several = await starter.post('/v1/actions/approve', { actions: [{ id: action.id, digest: action.digest }] });
  expect(several.data).toMatchObject([{ id: action.id, action: null, error: { code: 'own_action' } }]);
  // If a run of the key makes the same call, the action of the other run counts as the key's own too.
  const joined = await heldIssue({}, other);
  await runAsking({ service, client: starter }, joined.routine, ISSUE);
  expect(codeOf(await approve(starter, joined.action))).toEqual([403, 'own_action']);
  expect((await approve(other, action)).status).toBe(200);
  expect(routine.routineId).toMatch(/^rtn_/);
});

test('an assistant decides nothing about a run that follows its answer or its decision', async () => {
  const enabled = { mayAsk: true, afterAnswer: 'run', afterApproval: 'run' };
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url, routine: enabled });
  const ask = { name: 'ask', arguments: { question: 'Which page?' } };
  await runAsking({ service, client }, routine, ask, ISSUE);
  const open = () => actionsOf(client, `routineId=${routine.routineId}&state=open`);
  const [first] = await open();
  const holdsNext = (title: string) =>
    scriptCalls(service, routine.mark, { name: 'create_issue', arguments: { title } });
  const scopes = ['runs:read', 'runs:write', 'actions:write'];
  const entered = await enterAssistant(service);
  const asked = await entered.ask({ scope: scopes.join(' ') });
  const { data: consent } = await approveAsked(person, asked, scopes);
  const { body: tokens } = await exchange(entered, asked, codeIn(consent.redirectTo));
  const bearer = new ApiClient(service.url, { Authorization: `Bearer ${tokens.access_token}` });
  const assistant = await assistantOf(bearer, { query: '?toolsets=actions,questions' });
  const approveBy = ({ id, digest }: Json) => assistant.call('approve_action', { actionId: id, ifMatch: digest });

  const { data: questions } = await client.get(`/v1/questions?routineId=${routine.routineId}`);
  holdsNext('After the answer');
  expect(await assistant.call('answer_question', { questionId: questions[0].id, answer: '/pricing' })).toMatchObject({
    isError: false,
  });
  await expect.poll(open).toHaveLength(2);
  const [answered] = await open();
  expect(await approveBy(answered)).toMatchObject({ isError: true, text: expect.stringContaining('own_action') });

  holdsNext('After the decision');
  expect(await approveBy(first)).toMatchObject({ isError: false });
  expect(await approveBy(first)).toMatchObject({ isError: false });
  await expect.poll(open).toHaveLength(2);
  const [followed] = await open();
  expect(followed.arguments.title).toBe('After the decision');
  expect(await approveBy(followed)).toMatchObject({ isError: true, text: expect.stringContaining('own_action') });
  expect((await approve(client, followed)).status).toBe(200);
  await assistant.close();
});

test('a key without the scope, a person who has left, and another project are refused', async () => {
  const { action } = await heldIssue();
  const reader = await person.key(['runs:read', 'runs:write']);
  expect(codeOf(await approve(reader, action))).toEqual([403, 'insufficient_scope']);
  const left = await signUp(service);
  await giveRole(service.deps.database, person.organizationId, left.userId, 'member');
  expect((await sessionOf(left).get(`/v1/actions/${action.id}`)).status).toBe(200);
  await person.session.delete(`/v1/organizations/${person.organizationId}/members/${left.userId}`);
  expect((await approve(sessionOf(left), action)).status).toBe(404);
  const stranger = await (await signUp(service)).key();
  expect(codeOf(await stranger.get(`/v1/actions/${action.id}`))).toEqual([404, 'action_not_found']);
  expect(codeOf(await approve(stranger, action))).toEqual([404, 'action_not_found']);
  expect(codeOf(await stranger.post(`/v1/actions/${action.id}/reject`))).toEqual([404, 'action_not_found']);
  expect(await actionsOf(stranger, 'state=open')).toEqual([]);
  expect((await client.get(`/v1/actions/${action.id}`)).data.state).toBe('open');
});

test('several are decided at once, each with its verdict', async () => {
  const [one, other] = [await heldIssue(), await heldIssue()];
  const unknown = 'act_01kx3k9y6wfd8r0v5m2c7t4q5e';
  const { data } = await client.post('/v1/actions/approve', {
    actions: [
      { id: other.action.id, digest: one.action.digest.replace(/./, (c: string) => (c === 'a' ? 'b' : 'a')) },
      { id: one.action.id, digest: one.action.digest },
      { id: unknown, digest: one.action.digest },
    ],
  });
  expect(data.map(({ action, error }: Json) => action?.state ?? error.code)).toEqual([
    'action_differs',
    'approved',
    'action_not_found',
  ]);
  const rejected = await client.post('/v1/actions/reject', {
    actions: [{ id: other.action.id }, { id: one.action.id }],
    reason: 'Known.',
  });
  expect(rejected.data.map(({ action, error }: Json) => action?.note ?? error.code)).toEqual([
    'Known.',
    'action_closed',
  ]);
  await actionEnded(client, one.action.id);
});

test('a tool that was made automatic since still sends what a person approves', async () => {
  const { action, routine } = await heldIssue();
  await confirm(client, routine, ['create_issue']);
  expect((await approve(client, action)).status).toBe(200);
  expect((await actionEnded(client, action.id)).state).toBe('done');
});

test('a decision is in the audit log, with who and through what', async () => {
  const { action } = await heldIssue();
  await approve(client, action);
  const { data } = await client.get(`/v1/audit-events?organizationId=${person.organizationId}&targetId=${action.id}`);
  expect(data).toMatchObject([{ action: 'action.approved', actor: { kind: 'person', id: person.userId } }]);
});
