import { expect } from 'vitest';
import { tokensOf } from '#api/mcp/answer.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { actionEnded, actionsOf, holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { startTracker } from '#test/core/execution/actions/tracker.ts';
import type { Json } from '#test/core/integrations/tools/support.ts';
import { assistantOf, dataOf, outsideFences } from './support.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = serviceTest({ worker: true })
  .extend('tracker', { scope: 'file' }, async ({ service: _service }, { onCleanup }) => {
    const tracker = await startTracker();
    onCleanup(() => tracker.stop());
    return tracker;
  })
  // An assistant may not decide about calls of its own runs.
  .extend('client', ({ ada }) => ada.session.with({ 'X-Project-Id': ada.projectId }))
  .extend('assistant', { scope: 'file' }, async ({ key }, { onCleanup }) => {
    const assistant = await assistantOf(key, { query: '?toolsets=actions' });
    onCleanup(() => assistant.close());
    return assistant;
  });

function issue(title: string) {
  return { name: 'create_issue', arguments: { title } };
}

test('an assistant approves and rejects several calls at once by what it has seen, each with its verdict', async ({
  service,
  client,
  assistant,
  tracker,
}) => {
  const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
  await runAsking({ service, client }, routine, issue('One'), issue('Two'), issue('Pay \u202Eeht\u200B owner'));
  const list = await assistant.call('list_actions', { routineId: routine.routineId, state: 'open' });
  const listed = dataOf(list);
  expect(outsideFences(list.text)).toContain(listed[0].digest);
  // Characters that no one sees are a part of the call.
  expect(listed[0].argumentsText).toContain(String.raw`Pay \u202eeht\u200b owner`);
  const read = dataOf(await assistant.call('read_action', { actionId: listed[0].id }));
  expect(read.argumentsText).toBe(listed[0].argumentsText);
  expect(read).not.toHaveProperty('arguments');

  const [third, second, first] = listed.map(({ id, digest }: Json) => ({ id, digest }));
  const answer = await assistant.call('approve_actions', { actions: [first, { ...second, digest: first.digest }] });
  expect(answer.isError).toBe(false);
  expect(dataOf(answer)).toMatchObject([
    { id: first.id, action: { state: expect.stringMatching(/^(approved|sending|done)$/) } },
    { id: second.id, error: { code: 'action_differs' } },
  ]);
  expect(await actionEnded(client, first.id)).toMatchObject({ state: 'done' });
  const rejected = await assistant.call('reject_actions', {
    actions: [{ id: second.id }, { id: third.id }, { id: first.id }],
    reason: 'Known.',
  });
  expect(dataOf(rejected).map(({ action, error }: Json) => action?.state ?? error.code)).toEqual([
    'rejected',
    'rejected',
    'action_closed',
  ]);
  expect(tracker.calls).toEqual([issue('One')]);
  const refused = await assistant.call('approve_actions', { actions: [{ id: third.id }] });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('actions[0].digest') });
});

test.runIf(FULL_SIZE)(
  'the verdicts about fifty long calls fit into one answer',
  async ({ service, client, assistant, tracker }) => {
    const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
    const calls = Array.from({ length: 50 }, (_, nth) => ({
      name: 'create_issue',
      arguments: { title: `Page ${nth}`, url: `https://example.com/${'long/'.repeat(400)}${nth}` },
    }));
    // An answer of a model has at most 32 calls.
    for (const some of [calls.slice(0, 25), calls.slice(25)]) {
      service.gateway.control.script({ marker: routine.mark, behaviour: { kind: 'tool-calls', calls: some } });
    }
    await runAsking({ service, client }, routine);
    const actions = await actionsOf(client, `routineId=${routine.routineId}&state=open&limit=50`);
    expect(actions).toHaveLength(50);
    const answer = await assistant.call('reject_actions', { actions: actions.map(({ id }) => ({ id })) });
    expect(tokensOf(answer.text)).toBeLessThan(20_000);
    expect(dataOf(answer)).toEqual(actions.map(({ id }) => ({ id, action: { state: 'rejected' } })));
  },
);
