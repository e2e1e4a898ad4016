import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from './hostile-fixture.ts';
import { marker, policyPath, routineWith, scriptCalls, toolSteps } from './support.ts';

let fixture: HostileFixture;
let { service, hostile, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, key } = fixture);
});
beforeEach(() => hostile.control.reset());
afterEach(() => vi.restoreAllMocks());
afterAll(() => fixture?.close());

/** Runs `act` once, when the stored rules have allowed a call and the service is about to ask the server. */
function whileServerIsAsked(act: () => Promise<unknown>): void {
  const { toolSessions } = service.deps;
  const lease = toolSessions.lease.bind(toolSessions);
  vi.spyOn(toolSessions, 'lease').mockImplementationOnce(async (...input) => {
    const leased = await lease(...input);
    await act();
    return leased;
  });
}

test.each([
  ['disabled', { state: 'disabled' }, /no person has confirmed/],
  ['narrowed', { argumentSchema: { properties: { to: { const: 'no-one' } } } }, /outside of what was confirmed/],
])('a policy that is %s while its server is asked holds for the call', async (_how, change, why) => {
  const mark = marker();
  const found = await routineWith(key, ['send_message'], {
    connection: { url: hostile.url('honest') },
    routine: { instructions: mark },
  });
  const policy = found.tools.find(({ name }) => name === 'send_message');
  scriptCalls(service, mark, { name: 'send_message', arguments: { to: 'someone' } });
  const patched: number[] = [];
  whileServerIsAsked(async () => {
    const { status } = await key.patch(policyPath(found.routineId, policy), change);
    patched.push(status);
  });
  const run = await runOnce(key, found.routineId);
  expect(patched).toEqual([200]);
  expect(toolSteps(run)).toMatchObject([{ state: 'failed', errorMessage: expect.stringMatching(why) }]);
  expect(hostile.control.calls).toEqual([]);
});

test('a policy that is left alone lets the call through', async () => {
  const mark = marker();
  const found = await routineWith(key, ['send_message'], {
    connection: { url: hostile.url('honest') },
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: 'send_message', arguments: { to: 'someone' } });
  whileServerIsAsked(async () => undefined);
  const run = await runOnce(key, found.routineId);
  expect(toolSteps(run)).toMatchObject([{ state: 'succeeded' }]);
  expect(hostile.control.calls).toHaveLength(1);
});
