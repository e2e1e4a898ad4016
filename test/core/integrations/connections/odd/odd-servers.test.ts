import { expect, test } from 'vitest';
import { ODD_CASES } from '#dev/fakes/odd-authorization-server/cases.ts';
import type { MustRun, OddCase } from '#dev/fakes/odd-authorization-server/odd-case.ts';
import { oneOfEach } from '#test/support/properties.ts';
import { expireIn } from '#test/core/integrations/connections/sign-in-fixture.ts';
import { oddServer, publicError, routineOn, service, signInAt, useOddWorld } from './world.ts';

useOddWorld();

const WORKS: MustRun = { state: 'succeeded', outcome: 'done' };

/** On each change, only one case of each outcome is tested. */
const CASES = oneOfEach(ODD_CASES, ({ refusal, expires, runs }) => [
  refusal === undefined,
  expires,
  runs?.map(({ state, connection }) => [state, connection]),
]);

test.for(CASES)('a server that $name', async ({ answers, refusal, expires, runs = [WORKS] }: OddCase) => {
  const server = await oddServer(answers);
  const { status, body, data } = await signInAt(server);
  if (refusal !== undefined) {
    expect([status, body.error?.message]).toEqual([502, expect.stringMatching(refusal)]);
    return;
  }
  expect([status, body.error]).toEqual([200, undefined]);
  const { run } = await routineOn(data.id);
  // The discovery used the first token and refreshed none.
  expect(server.refreshes).toEqual([]);
  for (const { connection = 'ready', refreshes, ...must } of runs) {
    const asked = server.refreshes.length;
    if (expires !== false) await expireIn(service, data.id, -5);
    expect(await run()).toMatchObject({ reason: null, warnings: [], ...must });
    expect(await publicError(data.id)).toBe(connection);
    if (refreshes !== undefined) expect(server.refreshes).toHaveLength(asked + refreshes);
  }
});
