import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { requestsWith } from '../../integrations/tools/support.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking } from './support.ts';
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
