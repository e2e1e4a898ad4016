import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { actionEnded, actionsOf, holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { startTracker } from '#test/core/execution/actions/tracker.ts';
import { environmentOf, terminal } from './terminal.ts';

const test = serviceTest({ worker: true })
  .extend('tracker', { scope: 'file' }, async ({ service: _service }, { onCleanup }) => {
    const tracker = await startTracker();
    onCleanup(() => tracker.stop());
    return tracker;
  })
  // A key that starts a run may not decide about its calls.
  .extend('client', ({ ada }) => ada.session.with({ 'X-Project-Id': ada.projectId }))
  .extend('held', async ({ service, client, key, tracker }) => {
    const routine = await holdingRoutine(client, ['create_issue'], { url: tracker.url });
    const issue = (title: string) => ({ name: 'create_issue', arguments: { title, priority: 2 } });
    await runAsking({ service, client }, routine, issue('One'), issue('Two'));
    const user = await terminal();
    const env = environmentOf(key);
    const actions = (await actionsOf(client, `routineId=${routine.routineId}`)).toReversed();
    return {
      actions,
      ids: actions.map(({ id }) => id as string),
      ras: (args: readonly string[], options = {}) => user.run(['actions', ...args], { ...options, env }),
    };
  });

test('several calls are shown, asked about once and sent, each with its verdict', async ({ held, client, tracker }) => {
  const { ids, ras } = held;
  const { code, stdout } = await ras(['approve', ...ids], { isTerminal: true, answers: [['now?', 'y']] });
  expect(code).toBe(0);
  for (const words of ['One', 'Two', ...ids]) expect(stdout).toContain(words);
  for (const id of ids) expect(await actionEnded(client, id)).toMatchObject({ state: 'done' });
  expect(tracker.calls.map((call) => String(call.arguments['title'])).toSorted()).toEqual(['One', 'Two']);
});

test('without a terminal each call needs its digest, and one that differs leaves the other as it is', async ({
  held,
}) => {
  const { actions, ids, ras } = held;
  const [first, second] = actions.map(({ digest }) => digest as string);
  expect(await ras(['approve', ...ids])).toMatchObject({ code: 2, stderr: expect.stringContaining('give --digest') });
  expect(await ras(['approve', ...ids, '--digest', first!])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('one --digest for each action'),
  });
  expect(await ras(['approve', ...ids, '--digest', first!, second!, '--arguments', '{}'])).toMatchObject({ code: 2 });
  const { code, json } = await ras(['approve', ...ids, '--digest', first!, first!]);
  expect(code).toBe(1);
  expect(json).toMatchObject([
    { id: ids[0], error: null, action: { state: expect.stringMatching(/^(approved|sending|done)$/) } },
    { id: ids[1], action: null, error: { code: 'action_differs' } },
  ]);
});

test('several calls are rejected for one reason', async ({ held }) => {
  const { ids, ras } = held;
  const { code, json } = await ras(['reject', ...ids, '--reason', 'Known already.']);
  expect(code).toBe(0);
  expect(json).toMatchObject(ids.map((id) => ({ id, action: { state: 'rejected', note: 'Known already.' } })));
  expect(await ras(['reject', ids[0]!])).toMatchObject({ code: 0, json: { id: ids[0], state: 'rejected' } });
});

test('edited arguments keep the digits of their numbers', async ({ held, client }) => {
  const { actions, ids, ras } = held;
  const written = '{"title":"Two","priority":1234567890123456789}';
  const { code } = await ras(['approve', ids[1]!, '--digest', actions[1]!['digest'], '--arguments', written]);
  expect(code).toBe(0);
  const { data } = await client.get(`/v1/actions/${ids[1]}`);
  const { text } = await client.get(`/v1/actions/${data.replacedBy}`);
  expect(text).toContain('"priority":1234567890123456789');
});
