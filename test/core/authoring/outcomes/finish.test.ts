import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { requestsWith, type Json } from '#test/core/integrations/tools/support.ts';
import { prices, typedRoutine } from '#test/core/execution/results/world.ts';

// Tests of results with a form, in runs that have to state their outcome.
const test = serviceTest({ worker: true });

/** Makes the next message a call of `finish` with this text beside it. */
function finishes(service: Service, mark: string, outcome: string, text: string | null): void {
  const calls = [{ name: 'finish', arguments: { outcome, summary: 'That is all.' } }];
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls, text } });
}

const DATA = prices({ tea: 3 });
const JSON_TEXT = JSON.stringify(DATA);

test('the data is the text beside the call that ends the run', async ({ service, key }) => {
  const { id, mark } = await typedRoutine(service, key, { outcome: 'required' });
  finishes(service, mark, 'partial', JSON_TEXT);
  expect(await runOnce(key, id)).toMatchObject({
    state: 'succeeded',
    outcome: 'partial',
    data: DATA,
    stepCount: 1,
  });
});

test('the data is the last text where the call came after it', async ({ service, key }) => {
  const { id, mark } = await typedRoutine(service, key, { outcome: 'required' });
  service.gateway.control.script({
    marker: mark,
    behaviour: { kind: 'text', text: JSON_TEXT },
  });
  finishes(service, mark, 'done', null);
  expect(await runOnce(key, id)).toMatchObject({ outcome: 'done', data: DATA, stepCount: 2 });
});

test('a call beside another text is refused once, and ends the run beside the data', async ({ service, key }) => {
  const { id, mark } = await typedRoutine(service, key, { outcome: 'required' });
  finishes(service, mark, 'done', 'All is well.');
  finishes(service, mark, 'done', JSON_TEXT);
  expect(await runOnce(key, id)).toMatchObject({ outcome: 'done', data: DATA, stepCount: 2 });
  const [, repair] = requestsWith(service, mark);
  const [call, refusal] = repair.body.messages.slice(-2) as Json[];
  expect(call.tool_calls[0].function.name).toBe('finish');
  expect(refusal).toMatchObject({ role: 'tool', tool_call_id: call.tool_calls[0].id });
  expect(refusal.content).toMatch(
    /^That is not the result that was asked for: it is not JSON\. The call was refused\./,
  );

  finishes(service, mark, 'done', 'All is well.');
  finishes(service, mark, 'done', null);
  expect(await runOnce(key, id)).toMatchObject({
    state: 'failed',
    reason: 'result_invalid',
    outcome: null,
    data: null,
  });
});

test('a run that has nothing to report needs no data, and brings no change', async ({ service, key }) => {
  const { id, mark } = await typedRoutine(service, key, {
    outcome: 'required',
    deliver: 'changed',
    webhookUrl: 'http://127.0.0.1:4999/hook',
  });
  finishes(service, mark, 'done', JSON_TEXT);
  const first = await runOnce(key, id);
  finishes(service, mark, 'nothing_to_report', 'Nothing new.');
  expect(await runOnce(key, id)).toMatchObject({
    state: 'succeeded',
    outcome: 'nothing_to_report',
    data: null,
    changes: null,
    withheld: 'no_change',
    webhookDeliveries: [],
  });
  // The next run is still compared with the last delivered data.
  finishes(service, mark, 'done', JSON_TEXT);
  expect(await runOnce(key, id)).toMatchObject({
    changes: { against: first.id, counts: { added: 0, removed: 0, changed: 0 } },
  });
  // The service decides whether data changed, also for `nothing_to_report`.
  finishes(service, mark, 'nothing_to_report', JSON.stringify(prices({ tea: 4 })));
  expect(await runOnce(key, id)).toMatchObject({
    outcome: 'nothing_to_report',
    withheld: null,
    changes: { counts: { added: 0, removed: 0, changed: 1 } },
  });
});

test('checks run on a result that fits its schema, and a failed check leaves no data', async ({ service, key }) => {
  const checks = [{ type: 'result_matches', pattern: 'coffee' }];
  const { run } = await typedRoutine(service, key, { checks });
  expect(await run('No.', 'No.')).toMatchObject({ reason: 'result_invalid', checks: [] });
  expect(await run(DATA)).toMatchObject({
    state: 'failed',
    reason: 'check_failed',
    data: null,
    changes: null,
    checks: [{ passed: false }],
  });
  expect(await run(prices({ coffee: 1 }))).toMatchObject({
    state: 'succeeded',
    changes: { against: null },
    checks: [{ passed: true }],
  });
});
