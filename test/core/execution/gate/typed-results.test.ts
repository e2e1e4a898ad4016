import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { prices, typedRoutine } from '#test/core/execution/results/world.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { marker, scriptCalls } from '#test/core/integrations/tools/support.ts';
import { createRoutine } from '#test/support/routines.ts';
import { activate, modelCalls, says, scheduledRun, scheduledRuns, startPage } from './support.ts';

// Gates of routines with typed results. Gates and changes have separate baselines.
const test = serviceTest({ worker: true });

test('a skipped run has no data, is no unchanged one, and leaves what was delivered', async ({ service, key }) => {
  const receiver = await startReceiver((_request, response) => response.end());
  const page = await startPage(1);
  const { id, mark } = await typedRoutine(service, key, {
    instructions: 'Before: [{{previous.data}}].',
    gate: { url: page.origin },
    deliver: 'changed',
    webhookUrl: receiver.origin,
  });
  const gives = (items: Record<string, number>) => says(service, mark, JSON.stringify(prices(items)));
  gives({ tea: 3 });
  const proof = await activate(key, id);
  expect(await scheduledRun(service, key, id)).toMatchObject({
    state: 'skipped',
    reason: 'no_change',
    data: null,
    changes: null,
    withheld: null,
    webhookDeliveries: [],
  });

  // The page has changed, so the model runs, but the data is the same.
  page.body = 2;
  gives({ tea: 3 });
  const same = await scheduledRun(service, key, id);
  expect(same).toMatchObject({
    state: 'succeeded',
    withheld: 'no_change',
    gate: { reason: 'changed' },
    changes: { against: proof.id, unchangedRuns: 1 },
  });
  expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped' });

  page.body = 3;
  gives({ tea: 4 });
  const changed = await scheduledRun(service, key, id);
  expect(changed).toMatchObject({
    withheld: null,
    changes: { against: proof.id, unchangedRuns: 1, counts: { added: 0, removed: 0, changed: 1 } },
  });
  expect(changed.prompt).toContain(JSON.stringify(prices({ tea: 3 })));
  await expect.poll(() => receiver.received).toHaveLength(2);
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  expect(types).toEqual(['run.changed', 'run.changed']);
  expect(modelCalls(service, mark)).toBe(3);
});

test('after a result that was not by the schema the next run sees the change of the gate again', async ({
  service,
  key,
}) => {
  const page = await startPage(1);
  const { id, mark } = await typedRoutine(service, key, { gate: { url: page.origin } });
  says(service, mark, JSON.stringify(prices({ tea: 3 })));
  const proof = await activate(key, id);
  page.body = 2;
  says(service, mark, 'No.');
  says(service, mark, 'No.');
  expect(await scheduledRun(service, key, id)).toMatchObject({
    state: 'failed',
    reason: 'result_invalid',
    gate: { reason: 'changed' },
  });
  says(service, mark, JSON.stringify(prices({ tea: 3, salt: 1 })));
  expect(await scheduledRun(service, key, id)).toMatchObject({
    state: 'succeeded',
    gate: { reason: 'changed' },
    changes: { against: proof.id, added: [{ id: 'salt', price: 1 }] },
  });
  expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped' });
});

test('a run that was woken and has nothing to report has seen the change; one that a check stopped has not', async ({
  service,
  key,
}) => {
  const mark = marker();
  const page = await startPage(1);
  const id = await createRoutine(key, {
    instructions: mark,
    gate: { url: page.origin },
    outcome: 'required',
    checks: [{ type: 'result_does_not_match', pattern: 'sorry' }],
  });
  const finishes = (summary: string) =>
    scriptCalls(service, mark, {
      name: 'finish',
      arguments: { outcome: 'nothing_to_report', summary },
    });
  finishes('Proven.');
  await activate(key, id);
  page.body = 2;
  finishes('I am sorry.');
  expect(await scheduledRun(service, key, id)).toMatchObject({ reason: 'check_failed' });
  finishes('Nothing new.');
  expect(await scheduledRun(service, key, id)).toMatchObject({
    state: 'succeeded',
    outcome: 'nothing_to_report',
    gate: { reason: 'changed' },
  });
  expect(await scheduledRun(service, key, id)).toMatchObject({ state: 'skipped', outcome: null });
  expect(await scheduledRuns(key, id)).toHaveLength(3);
});
