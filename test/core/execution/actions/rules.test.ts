import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { policyPath, type Json } from '../../integrations/tools/support.ts';
import { actionsOf, holdingRoutine, runAsking } from './support.ts';
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

function issue(title: string, fields: object = {}) {
  return { name: 'create_issue', arguments: { title, ...fields } };
}

async function withRule(rule: Json) {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  const rules = `${policyPath(routine.routineId, { id: routine.policyOf('create_issue') })}/rules`;
  const made = await client.post(rules, rule);
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  return { routine, rules, rule: made.data };
}

test('a call that meets all conditions of a standing rule is made at once and names the rule; others are held', async () => {
  const { routine, rules, rule } = await withRule({
    conditions: [
      { pointer: '/title', prefix: 'Typo' },
      { pointer: '/priority', atMost: 2 },
    ],
  });
  expect(rule.words).toBe('Calls whose title begins with "Typo" and priority is at most 2, with any other arguments');
  const { steps } = await runAsking(
    { service, client },
    routine,
    issue('Typo on /pricing', { priority: 1 }),
    issue('Typo on /pricing', { priority: 3 }),
    issue('Typo on /about'),
    issue('Outage', { priority: 1 }),
  );
  expect(steps.map(({ tool }) => tool.rule?.id ?? tool.action?.name)).toEqual([
    rule.id,
    'action_1',
    'action_2',
    'action_3',
  ]);
  expect(steps[0]).toMatchObject({ state: 'succeeded', tool: { result: 'number 1', rule: { words: rule.words } } });
  expect(tracker.calls).toEqual([issue('Typo on /pricing', { priority: 1 })]);
  expect((await client.get(rules)).data).toMatchObject([{ id: rule.id, uses: 1 }]);
});

test('a call that needs the result of a held one waits for a person too, also under a rule', async () => {
  const { routine } = await withRule({ conditions: [{ pointer: '/title', prefix: 'See ' }] });
  const { steps } = await runAsking(
    { service, client },
    routine,
    issue('Outage'),
    issue('See {{action_1.result./id}}'),
  );
  expect(steps.map(({ tool }) => [tool.action?.name, tool.rule])).toEqual([
    ['action_1', null],
    ['action_2', null],
  ]);
  expect(tracker.calls).toEqual([]);
});

test('a pointer to no argument of the call itself meets no condition, and 1.0 is 1', async () => {
  for (const pointer of ['/__proto__', '/constructor/name', '/title/0', '/title/length']) {
    const { routine } = await withRule({ conditions: [{ pointer, in: ['T', 'Object', null, 4] }] });
    const { steps } = await runAsking({ service, client }, routine, issue('Typo'));
    expect([pointer, steps[0].tool.rule]).toEqual([pointer, null]);
  }
  const { routine, rules } = await withRule({ conditions: [{ pointer: '/priority', equals: 1 }] });
  const written = { name: 'create_issue', arguments: '{"title":"Typo","priority":1.0}' };
  const { steps } = await runAsking({ service, client }, routine, written);
  expect(steps[0].tool.rule).not.toBeNull();
  for (const condition of [
    { pointer: '', equals: 1 },
    { pointer: '/title', in: Array(10_000).fill('x') },
  ]) {
    expect((await client.post(rules, { conditions: [condition] })).status).toBe(400);
  }
});

test('a pointer names one place: with escapes, in lists, and in the form of its characters', async () => {
  const given = { 'a/b': 'slash', 'c~d': 'tilde', 'e~1f': 'both', '': 'empty', list: [['x'], 'é'] };
  const conditions = [
    { pointer: '/a~1b', equals: 'slash' },
    { pointer: '/c~0d', equals: 'tilde' },
    { pointer: '/e~01f', equals: 'both' },
    { pointer: '/', equals: 'empty' },
    { pointer: '/list/0/0', equals: 'x' },
    { pointer: '/list/1', in: ['é'] },
  ];
  const { routine } = await withRule({ conditions });
  const others = [
    { ...given, 'e~1f': undefined, e: { f: 'both' } },
    { ...given, list: [['x'], 'e\u0301'] },
    { ...given, list: { 0: ['x'], 1: ['é'] } },
    { ...given, list: [['x', 'y'], 'É'] },
    { ...given, 'a/b': { slash: true }, a: { b: 'slash' } },
  ];
  const calls = [given, ...others].map((fields) => issue('Odd', fields));
  const { steps } = await runAsking({ service, client }, routine, ...calls);
  expect(steps.map(({ tool }) => tool.rule !== null)).toEqual([true, ...others.map(() => false)]);
});

test('a number of 19 digits meets no condition, however it is compared', async () => {
  const { routine } = await withRule({ conditions: [{ pointer: '/priority', atMost: 9_007_199_254_740_991 }] });
  const large = '{"title":"x","priority":-1234567890123456789}';
  const { steps } = await runAsking({ service, client }, routine, { name: 'create_issue', arguments: large });
  expect(steps[0].tool.rule).toBeNull();
  expect(tracker.calls).toEqual([]);
});

test('a rule that may be used twice lets two calls through, also when runs use it at once', async () => {
  const { routine, rules } = await withRule({ conditions: [{ pointer: '/title', equals: 'Typo' }], maxUses: 2 });
  const calls = [1, 2, 3].map((priority) => issue('Typo', { priority }));
  const runs = await Promise.all(
    calls.map((call) => runAsking({ service, client }, { ...routine, mark: routine.mark }, call)),
  );
  const made = runs.flatMap(({ steps }) => steps).filter(({ tool }) => tool.rule !== null);
  expect([made.length, tracker.calls.length]).toEqual([2, 2]);
  expect((await client.get(rules)).data).toMatchObject([{ uses: 2, maxUses: 2 }]);
  expect(await actionsOf(client, `routineId=${routine.routineId}`)).toHaveLength(1);
});

test('a rule that was revoked, has expired or was made for another definition lets nothing through', async () => {
  const conditions = [{ pointer: '/title', equals: 'Typo' }];
  const revoked = await withRule({ conditions });
  expect((await client.delete(`${revoked.rules}/${revoked.rule.id}`)).data.revokedAt).not.toBeNull();
  const expired = await withRule({ conditions, expiresAt: new Date(Date.now() - 1_000).toISOString() });
  const changed = await withRule({ conditions });
  const { routineId, connectionId } = changed.routine;
  tracker.description = 'Files something else.';
  await client.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  const policy = policyPath(routineId, { id: changed.routine.policyOf('create_issue') });
  expect((await client.patch(policy, { state: 'hold' })).status).toBe(200);
  const { steps } = await runAsking({ service, client }, changed.routine, issue('Typo'));
  expect(steps[0].tool.action).not.toBeNull();
  tracker.description = 'Files something.';
  for (const { routine } of [revoked, expired]) {
    const { steps: held } = await runAsking({ service, client }, routine, issue('Typo'));
    expect(held[0].tool.action).not.toBeNull();
  }
  expect(tracker.calls).toEqual([]);
});

test('rules are made for held tools only, by those who may write connections, and each change is in the audit log', async () => {
  const { routine, rules, rule } = await withRule({ conditions: [{ pointer: '/title', in: ['a', null, 7] }] });
  expect(rule).toMatchObject({ words: 'Calls whose title is "a" or null or 7, with any other arguments', uses: 0 });
  const approver = await person.key(['actions:write', 'connections:read']);
  expect((await approver.post(rules, { conditions: rule.conditions })).status).toBe(403);
  expect((await client.post(rules, { conditions: [] })).status).toBe(400);
  expect((await client.post(rules, { conditions: [{ pointer: 'title', equals: 1 }] })).status).toBe(400);
  expect((await client.post(rules, { conditions: [{ pointer: '/title', equals: 1, prefix: 'x' }] })).status).toBe(400);
  const other = `${policyPath(routine.routineId, { id: routine.policyOf('comment') })}/rules`;
  expect((await client.post(other, { conditions: rule.conditions })).status).toBe(400);
  const stranger = await (await signUp(service)).key();
  expect((await stranger.get(rules)).status).toBe(404);
  expect((await stranger.delete(`${rules}/${rule.id}`)).status).toBe(404);
  await client.delete(`${rules}/${rule.id}`);
});
