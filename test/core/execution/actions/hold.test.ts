import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeArchived, MAX_OPEN_ACTIONS, recordHeldCall } from '#core/execution/actions/index.ts';
import { performToolStep } from '#core/execution/steps/index.ts';
import { transaction, withStatements } from '#lib/database/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { runOnce } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { confirm, requestsWith, scriptCalls, toolSteps, type Json } from '../../integrations/tools/support.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking, ticked } from './support.ts';
import { startTracker, type Tracker } from './tracker.ts';

let service: Service;
let tracker: Tracker;
let person: Person;
let client: ApiClient;

beforeAll(async () => {
  [service, tracker] = await Promise.all([sharedService({ worker: true }), startTracker()]);
  person = await signUp(service);
  client = person.session.with({ 'X-Project-Id': person.projectId });
});
beforeEach(() => {
  tracker.calls.length = 0;
});
afterAll(() => tracker?.stop());

/** Number of times that a run's model asks for calls, and number of calls each time. */
const ROUNDS = FULL_SIZE ? 3 : 1;
const CALLS_A_ROUND = 32;
/** Calls of all runs together. */
const CALLS = FULL_SIZE ? 1_000 : 100;
/** Calls that are held when their routine is archived. */
const HELD = FULL_SIZE ? 30 : 8;

const ISSUE = { name: 'create_issue', arguments: { title: 'Broken link', priority: 2 } };

test('a held call waits, the run goes on and is told so, and an approval sends it once', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const { run, steps } = await runAsking({ service, client }, routine, ISSUE);
  expect(run).toMatchObject({ state: 'succeeded', stepCount: 2 });
  expect(tracker.calls).toEqual([]);
  const [action] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect(action).toMatchObject({
    state: 'open',
    runId: run.id,
    times: 1,
    toolName: 'create_issue',
    connectionName: 'Tools',
    arguments: ISSUE.arguments,
  });
  expect(steps[0]).toMatchObject({ state: 'succeeded', tool: { action: { id: action.id, name: 'action_1' } } });
  const told = requestsWith(service, routine.mark).at(-1).body.messages.at(-1).content;
  expect(told).toMatch(/^Recorded for approval as action_1, and not done/);

  const approved = await approve(client, action);
  expect([approved.status, approved.data?.state]).toEqual([200, 'approved']);
  expect(await actionEnded(client, action.id)).toMatchObject({
    state: 'done',
    isError: false,
    result: 'number 1',
    decidedBy: { kind: 'person', id: person.userId },
  });
  expect(tracker.calls).toEqual([{ name: 'create_issue', arguments: ISSUE.arguments }]);
  const again = await approve(client, action);
  expect([again.status, again.data.state]).toEqual([200, 'done']);
  expect(tracker.calls).toHaveLength(1);
});

test('the same call of a later run is counted with the open one, and names of arguments in another order are the same', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const first = await runAsking({ service, client }, routine, ISSUE);
  const turned = { name: 'create_issue', arguments: { priority: 2, title: 'Broken link' } };
  const second = await runAsking({ service, client }, routine, turned, { ...ISSUE, arguments: { title: 'Another' } });
  const [other, action, ...more] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect(more).toEqual([]);
  expect(action).toMatchObject({ times: 2, runId: first.run.id, lastRunId: second.run.id });
  expect(other).toMatchObject({ times: 1, arguments: { title: 'Another' } });
  expect(second.steps.map(({ tool }) => tool.action)).toEqual([
    { id: action.id, name: 'action_1' },
    { id: other.id, name: 'action_2' },
  ]);
  expect(await actionsOf(client, `runId=${second.run.id}`)).toHaveLength(2);
});

test('many identical calls of two runs make one action', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const round = () => scriptCalls(service, routine.mark, ...Array.from({ length: CALLS_A_ROUND }, () => ISSUE));
  for (let each = 0; each < ROUNDS; each += 1) round();
  const first = await runOnce(client, routine.routineId);
  expect(first.state).toBe('succeeded');
  expect(new Set(toolSteps(first).map(({ tool }) => tool.action.name))).toEqual(new Set(['action_1']));
  const [action] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect(action).toMatchObject({ times: ROUNDS * CALLS_A_ROUND });
  const { run: second } = await runAsking({ service, client }, routine, ISSUE);
  const call = { ...(await callOf(routine)), arguments: ISSUE.arguments, refersTo: [], modelReason: null };
  // A run cannot make a thousand calls within a test, so the others are stored as its steps would store them.
  await transaction(service.deps.database, async (tx) => {
    for (let nth = ROUNDS * CALLS_A_ROUND + 1; nth < CALLS; nth += 1) {
      const runId: string = nth % 2 === 0 ? first.id : second.id;
      expect(await recordHeldCall(service.deps, tx, { ...call, runId })).toBe(action.id);
    }
  });
  expect(await actionsOf(client, `routineId=${routine.routineId}`)).toMatchObject([{ times: CALLS, state: 'open' }]);
});

test('actions that end together are told by one statement, each once', async () => {
  const receiver = await startReceiver((_request, response) => response.end());
  const { routineId, ...routine } = await holdingRoutine(client, ['create_issue'], {
    url: tracker.url,
    routine: { webhookUrl: `${receiver.origin}/hook`, afterApproval: 'run' },
  });
  const { run } = await runAsking({ service, client }, { routineId, ...routine });
  const call = { ...(await callOf({ routineId, ...routine })), runId: run.id, modelReason: null };
  const { database } = service.deps;
  const held = (title: string, refersTo: string[] = []) =>
    transaction(database, (tx) =>
      recordHeldCall(service.deps, tx, { ...call, refersTo, arguments: { title } }),
    ) as Promise<string>;
  const first = await held('issue');
  for (let nth = 1; nth < HELD; nth += 1) await held(`issue ${nth}`);
  await held('comment', [first]);
  const ids = (await actionsOf(client, `routineId=${routineId}&limit=100`)).map(({ id }) => id as string);
  expect(ids.length).toBeGreaterThan(HELD);
  const statements: string[] = [];
  await transaction(database, (tx) => {
    const counting = withStatements({
      query(config) {
        statements.push(config.text);
        return tx.query(config);
      },
    });
    return closeArchived(service.deps, counting, [routineId]);
  });
  const ofKind = (words: string) => statements.filter((text) => text.includes(words)).length;
  expect([ofKind('insert into webhook_deliveries'), ofKind('insert into work')]).toEqual([1, 1]);
  const decided = (): string[] =>
    receiver.received
      .map(({ body }) => JSON.parse(body))
      .filter(({ type }) => type === 'action.decided')
      .map(({ data }) => data.id);
  await expect
    .poll(async () => (await ticked(service), decided().toSorted()), { interval: 200 })
    .toEqual(ids.toSorted());
  const reasons = (await actionsOf(client, `routineId=${routineId}&limit=100`)).map(({ state, reason }) => [
    state,
    reason,
  ]);
  expect(new Set(reasons.map(String))).toEqual(new Set(['closed,routine_archived']));
});

test('a step that is recorded again finds its action, and a routine has at most 200 open ones', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const { run, steps } = await runAsking({ service, client }, routine, ISSUE);
  const { database } = service.deps;
  const key = { runId: run.id, index: steps[0].index };
  const signal = new AbortController().signal;
  expect(await performToolStep(service.deps, key, signal)).toBe('skipped');
  expect(await actionsOf(client, `routineId=${routine.routineId}`)).toMatchObject([{ times: 1 }]);

  const held = {
    ...(await callOf(routine)),
    runId: run.id,
    refersTo: [],
    modelReason: null,
  };
  const hold = (title: string) =>
    transaction(database, (tx) => recordHeldCall(service.deps, tx, { ...held, arguments: { title } }));
  for (let index = 1; index < MAX_OPEN_ACTIONS; index += 1) expect(await hold(`issue ${index}`)).toBeDefined();
  expect(await hold('one more')).toBeUndefined();
  expect(await hold('issue 7')).toBeDefined();
  const { steps: refused, run: told } = await runAsking({ service, client }, routine, {
    ...ISSUE,
    arguments: { title: 'x' },
  });
  expect(told.state).toBe('succeeded');
  expect(refused[0]).toMatchObject({ state: 'failed', errorMessage: expect.stringContaining('as there may be (200)') });
});

async function callOf(routine: Awaited<ReturnType<typeof holdingRoutine>>) {
  const { projectId } = person;
  const { data: policies } = await client.get(`/v1/routines/${routine.routineId}/tools`);
  const policy = policies.find(({ name }: Json) => name === 'create_issue');
  const connection = (await client.get(`/v1/connections/${routine.connectionId}`)).data;
  return {
    projectId,
    routineId: routine.routineId,
    policyId: policy.id,
    toolName: policy.name,
    definitionHash: policy.definitionHash,
    connection: { id: connection.id, url: connection.url, accountLabel: null },
    connectionName: connection.name,
  };
}

test('what cannot be held is refused at once: unfit, outside of the limits, too long, or with a faulty reference', async () => {
  const routine = await holdingRoutine(client, ['create_issue', 'comment'], {
    url: tracker.url,
    limits: { argumentSchema: { properties: { title: { not: { const: 'forbidden' } } } } },
  });
  const { run, steps } = await runAsking(
    { service, client },
    routine,
    { name: 'create_issue', arguments: { title: 7 } },
    { name: 'create_issue', arguments: { title: 'forbidden' } },
    { name: 'create_issue', arguments: { title: 'long', url: 'x'.repeat(64_000) } },
    { name: 'comment', arguments: { issue: '{{action_1.result./id}}', text: 'none' } },
    { name: 'comment', arguments: { issue: 1, text: 'see {{action_1.results/id}}' } },
    { name: 'comment', arguments: { issue: '{{act_01kx3k9y6wfd8r0v5m2c7t4q5e.result./id}}', text: 'of another run' } },
  );
  expect(run.state).toBe('succeeded');
  expect(steps.map(({ errorMessage }) => errorMessage)).toEqual([
    expect.stringContaining('do not fit the tool'),
    expect.stringContaining('outside of what was confirmed'),
    expect.stringContaining('at most 64000 characters'),
    expect.stringContaining('action_1 is no action that was held earlier in this run'),
    expect.stringContaining('has the form {{action_1.result./id}}'),
    expect.stringContaining('is no action that was held earlier in this run'),
  ]);
  expect(await actionsOf(client, `routineId=${routine.routineId}`)).toEqual([]);
});

test('a call that is made at once and names a held one is refused, and its placeholder is not sent', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  await confirm(client, routine, ['comment']);
  const comment = (text: string) => ({ name: 'comment', arguments: { issue: 1, text } });
  const { steps } = await runAsking(
    { service, client },
    routine,
    comment('{{action_1.result./id}} is a placeholder'),
    ISSUE,
    comment('See {{action_1.result./id}}'),
  );
  expect(steps.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'failed']);
  expect(steps[2].errorMessage).toContain('cannot use the result of an action that waits');
  expect(tracker.calls).toHaveLength(1);
});

test('a held call counts as no success of a check, and against the calls of a run', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], {
    url: tracker.url,
    routine: { checks: [{ type: 'tool_succeeded', tool: 'create_issue', atLeast: 1 }] },
    limits: { maxCallsPerRun: 1 },
  });
  const another = { ...ISSUE, arguments: { title: 'Another' } };
  const { run, steps } = await runAsking({ service, client }, routine, ISSUE, another);
  expect(run).toMatchObject({ state: 'failed', reason: 'check_failed' });
  expect(steps[1].errorMessage).toContain('may be called 1 times in a run');
});

test('arguments are shown as they are sent: digits, Markdown and characters that no reader sees', async () => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const title = 'Pay [now](https://evil.example) \u202Eoot\u200B <img src=x onerror=alert(1)>';
  const call = { name: 'create_issue', arguments: { title, priority: 1.5 } };
  const text = 'Nothing \u202Eis wrong\u200B.';
  service.gateway.control.script({ marker: routine.mark, behaviour: { kind: 'tool-calls', calls: [call], text } });
  await runOnce(client, routine.routineId);
  const [action] = await actionsOf(client, `routineId=${routine.routineId}`);
  expect(action.arguments).toEqual(call.arguments);
  expect(action.modelReason).toBe('Nothing is wrong.');
  expect(action.argumentsText).toContain('\\u202eoot\\u200b <img');
  expect(JSON.parse(action.argumentsText)).toEqual(call.arguments);
  await approve(client, action);
  await actionEnded(client, action.id);
  expect(tracker.calls[0]?.arguments).toEqual(call.arguments);
});

test('an automatic tool is called as before, and nothing is held', async () => {
  const { routineId, tools, mark } = await holdingRoutine(client, [], { url: tracker.url });
  await confirm(client, { routineId, tools, connectionId: '' }, ['create_issue']);
  const { steps } = await runAsking({ service, client }, { routineId, mark }, ISSUE);
  expect(steps[0]).toMatchObject({ state: 'succeeded', tool: { action: null, rule: null, result: 'number 1' } });
  expect(await actionsOf(client, `routineId=${routineId}`)).toEqual([]);
});
