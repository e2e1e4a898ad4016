import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expireActions } from '#core/execution/actions/index.ts';
import { transaction } from '#lib/database/index.ts';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import type { ApiClient } from '#test/support/client.ts';
import { lockWaits } from '#test/support/database.ts';
import { changeActions } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { policyPath, type Json } from '../../integrations/tools/support.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking } from './support.ts';
import { startTracker, type Tracker } from './tracker.ts';
import { FULL_SIZE, sized } from '#test/support/properties.ts';

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
  tracker.away = undefined;
  tracker.changed = (tool) => tool;
});
afterAll(() => tracker?.stop());

function issue(title: string, fields: object = {}) {
  return { name: 'create_issue', arguments: { title, ...fields } };
}

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

/** Makes a routine and runs it once with these calls. @returns its actions in the order of the calls */
async function held(...calls: { name: string; arguments?: Json }[]) {
  const routine = await holdingRoutine(client, ['create_issue', 'comment'], { url: tracker.url });
  const { run, steps } = await runAsking({ service, client }, routine, ...calls);
  const actions = (await actionsOf(client, `routineId=${routine.routineId}&limit=200`)).toReversed();
  return { routine, run, steps, actions };
}

async function stateOf(id: string): Promise<unknown[]> {
  const { state, reason } = (await client.get(`/v1/actions/${id}`)).data;
  return [state, reason];
}

function statuses(answers: readonly { readonly status: number }[]): number[] {
  return answers.map(({ status }) => status).toSorted((one, other) => one - other);
}

test('decisions at the same moment never exceed the calls of a run', async () => {
  const { routine, actions } = await held(...['a', 'b', 'c', 'd', 'e', 'f'].map((title) => issue(title)));
  const policy = policyPath(routine.routineId, { id: routine.policyOf('create_issue') });
  await client.patch(policy, { state: 'hold', maxCallsPerRun: 2 });
  const { database } = service.deps;
  // All of them have read what they decide about before the first is recorded.
  const { all } = await transaction(database, async (tx) => {
    await tx.run`select from memberships where user_id = ${person.userId} for update`;
    const all = actions.map((action) => approve(client, action));
    await expect.poll(() => lockWaits(database)).toBeGreaterThanOrEqual(all.length);
    return { all };
  });
  expect(statuses(await Promise.all(all))).toEqual([200, 200, 409, 409, 409, 409]);
  await Promise.all(actions.map(({ id }) => actionEnded(client, id)));
  expect(tracker.calls).toHaveLength(2);
});

test('of an approval, a rejection and two edits at once, one decision counts', async () => {
  for (let nth = 0; nth < sized(4); nth += 1) {
    const { actions, routine } = await held(issue('Race'));
    const [action] = actions;
    const before = tracker.calls.length;
    const answers = await Promise.all([
      approve(client, action, { arguments: { title: 'One' } }),
      approve(client, action),
      client.post(`/v1/actions/${action.id}/reject`),
      approve(client, action, { arguments: { title: 'Other' } }),
    ]);
    expect(statuses(answers)).toEqual([200, 409, 409, 409]);
    const { data } = answers.find(({ status }) => status === 200)!;
    await actionEnded(client, data.id);
    const all = await actionsOf(client, `routineId=${routine.routineId}`);
    expect(all.filter(({ state }) => !['replaced', 'rejected'].includes(state))).toHaveLength(
      data.state === 'rejected' ? 0 : 1,
    );
    expect(tracker.calls).toHaveLength(before + (data.state === 'rejected' ? 0 : 1));
  }
});

test('an approval at the moment of expiry approves the call or finds it expired, and never both', async () => {
  for (const ms of FULL_SIZE ? [0, 20, 40, 60] : [20]) {
    const { actions } = await held(issue(`Late by ${ms}`));
    const [{ id }] = actions as [Json];
    await changeActions(service.deps.database, id, { expiresAt: new Date(Date.now() + ms) });
    const before = tracker.calls.length;
    const expiring = async () => {
      while (!/^(?:approved|sending|done|rejected)$/.test(String((await stateOf(id))[0]))) {
        await expireActions(service.deps, new AbortController().signal);
      }
    };
    const [answer] = await Promise.all([approve(client, actions[0]), expiring()]);
    const { state } = await actionEnded(client, id);
    const isApproved = answer.status === 200;
    expect([ms, answer.status, state]).toEqual([ms, isApproved ? 200 : 409, isApproved ? 'done' : 'rejected']);
    expect(tracker.calls).toHaveLength(before + (isApproved ? 1 : 0));
  }
});

test('edited arguments are refused if they are too long or too deep, and otherwise sent as they were written', async () => {
  const { actions } = await held(issue('Odd'));
  const other = await held(issue('Of another run'));
  const [action] = actions;
  const refused = [
    { title: 'long', url: 'x'.repeat(64_000) },
    { title: 'deep', list: JSON.parse(nested(70)) },
    JSON.parse('{"title":"proto","__proto__":{"priority":1}}'),
    { title: 'a\u0000b' },
    { title: 'half \uD800' },
    { title: 'number', priority: new ExactNumber('1e1001') },
    { title: `{{${other.actions[0].id}.result./id}}` },
  ];
  for (const args of refused) {
    const answer = await approve(client, action, { arguments: args });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  }
  const large = await approve(client, action, { arguments: { title: 'large', url: 'x'.repeat(1_100_000) } });
  expect(large.status).toBe(413);
  expect(await stateOf(action.id)).toEqual(['open', null]);

  const odd = {
    title: 'e\u0301 is not \u00E9',
    constructor: 'own',
    toString: { a: 1.0 },
    extra: [{ deep: JSON.parse(nested(20)) }],
  };
  const digits = { priority: new ExactNumber('1234567890123456789'), far: new ExactNumber('1e400') };
  const edited = await approve(client, action, { arguments: { ...odd, ...digits } });
  expect([edited.status, edited.body.error]).toEqual([200, undefined]);
  expect(edited.data.argumentsText).toContain('"priority": 1234567890123456789');
  expect(await actionEnded(client, edited.data.id)).toMatchObject({ state: 'done' });
  expect(tracker.calls).toHaveLength(1);
  expect(tracker.calls[0]!.arguments).toMatchObject(odd);
});

function written(texts: readonly string[]) {
  return texts.map((text) => ({ name: 'create_issue', arguments: text }));
}

test('odd arguments of a model are held as they will be sent', async () => {
  const { actions } = await held(
    ...written([
      '{"title":"a\\u0000b"}',
      '{"title":"half \\ud800"}',
      '{"title":"own","constructor":1,"hasOwnProperty":{"title":2}}',
      '{"title":"far","priority":1e400}',
      '{"title":"small","priority":1.0e-7}',
      '{"title":"zero","priority":-0.0}',
      '{"title":"digits","priority":0.1000000000000000055511151231257827}',
      `{"title":"deep","list":${nested(98)}}`,
    ]),
  );
  expect(actions).toHaveLength(8);
  for (const action of actions) {
    const shown = action.argumentsText.slice(0, 60);
    expect([shown, (await approve(client, action)).body.error]).toEqual([shown, undefined]);
    expect([shown, (await actionEnded(client, action.id)).state]).toEqual([shown, 'done']);
  }
});

test('arguments that are nested too deeply are refused, and the run goes on', async () => {
  const texts = [101, 150, 250, 1_000].map((levels) => `{"title":"deep","list":${nested(levels)}}`);
  const { run, steps, actions } = await held(...written([...texts, '{"title":"x","__proto__":{"priority":1}}']));
  expect([run.state, actions]).toEqual(['succeeded', []]);
  expect(steps.map(({ errorMessage }) => errorMessage)).toEqual([
    ...texts.map(() => 'Refused: nested deeper than 100 levels.'),
    'Refused: the arguments are not valid JSON.',
  ]);
});

test('the same call with its arguments in another order and its numbers in another form is the same action', async () => {
  const { actions } = await held(
    { name: 'create_issue', arguments: '{"title":"Same","priority":1,"url":"é"}' },
    { name: 'create_issue', arguments: '{"url":"\\u00e9", "priority":1.0, "title":"Same"}' },
    { name: 'create_issue', arguments: '{"priority":10e-1,"url":"é","title":"Same"}' },
    { name: 'create_issue', arguments: '{"priority":1,"url":"e\u0301","title":"Same"}' },
  );
  expect(actions.map(({ times }) => times)).toEqual([3, 1]);
});

const CHANGES: readonly [string, (tool: Json) => Json][] = [
  ['a wider schema', (tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, required: [] } })],
  ['another description', (tool) => ({ ...tool, description: 'Files something. ' })],
  ['another hint', (tool) => ({ ...tool, annotations: { readOnlyHint: true } })],
  ['another title', (tool) => ({ ...tool, title: 'File' })],
  ['another name', (tool) => ({ ...tool, name: `${tool.name}_2` })],
];

test('a tool with any other definition closes what was held for it, before an approval and after it', async () => {
  for (const [change, changed] of CHANGES) {
    const { routine, actions } = await held(issue('Before'), issue('After'));
    const [before, after] = actions;
    tracker.away = 503;
    expect((await approve(client, after)).status).toBe(200);
    tracker.changed = changed;
    tracker.away = undefined;
    await client.post(`/v1/routines/${routine.routineId}/connections/${routine.connectionId}/discover`);
    expect([change, await stateOf(before.id)]).toEqual([change, ['closed', 'tool_changed']]);
    await actionEnded(client, after.id);
    expect([change, await stateOf(after.id)]).toEqual([change, ['closed', 'tool_changed']]);
    const late = await approve(client, before);
    expect([change, late.status, late.body.error.code]).toEqual([change, 409, 'action_closed']);
    tracker.changed = (tool) => tool;
  }
  expect(tracker.calls).toEqual([]);
});

test('what was approved is not sent once its connection is deleted', async () => {
  const { routine, actions } = await held(issue('Gone'));
  tracker.away = 503;
  expect((await approve(client, actions[0])).status).toBe(200);
  expect((await client.delete(`/v1/connections/${routine.connectionId}`)).status).toBeLessThan(300);
  tracker.away = undefined;
  await actionEnded(client, actions[0].id);
  expect(await stateOf(actions[0].id)).toEqual(['closed', 'connection_removed']);
  expect(tracker.calls).toEqual([]);
});

test.runIf(FULL_SIZE)('a program that follows links decides nothing', async () => {
  const { actions } = await held(issue('Link'));
  const [{ id, digest }] = actions as [Json];
  const seen = client.with({ 'If-Match': `"${digest}"` });
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    for (const path of ['', '/approve', '/reject', `/approve?digest=${digest}`]) {
      await seen.send(method, `/v1/actions/${id}${path}`);
    }
    await seen.send(method, '/v1/actions/approve');
  }
  const other = await seen.with({ Origin: 'https://mail.example' }).post(`/v1/actions/${id}/approve`);
  expect([other.status, other.body.error.code]).toEqual([403, 'origin_not_allowed']);
  expect(await stateOf(id)).toEqual(['open', null]);
});

test('a run declares no way to ask people during a call', () => {
  expect(tracker.declared.length).toBeGreaterThan(0);
  for (const capabilities of tracker.declared) expect(capabilities).toEqual({});
});
