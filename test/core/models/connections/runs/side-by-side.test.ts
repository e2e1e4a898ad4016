import { afterAll, beforeAll, expect, test } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import {
  connectByDevice,
  connectByOAuth,
  connectWithKey,
  goodKey,
  newOwner,
  startModelFixture,
  type ModelFixture,
} from '#test/core/models/connections/fixture.ts';
import { proves } from '#test/support/proves.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';
import { changeRoutines } from '#test/support/given.ts';
import { historyOf } from './history.ts';
import { MODEL, modelOn } from './world.ts';

let fixture: ModelFixture;

beforeAll(async () => {
  fixture = await startModelFixture({ worker: true });
});
afterAll(() => fixture?.close());

test(
  'accounts by device code, by signing in and by key stand side by side, and a routine on each runs by schedule',
  proves('GET /v1/models'),
  async () => {
    const { service, providers } = fixture;
    const { session } = await newOwner(fixture);
    const accounts = [
      (await connectByDevice(fixture, session)).id,
      (await connectByOAuth(fixture, session)).data.id,
      (await connectWithKey(session, goodKey(fixture))).data.id,
    ];
    const { data } = await session.get('/v1/models');
    const same = data.filter(({ modelId }: { modelId: string }) => modelId === MODEL);
    expect(same.map((each: { provider: string; connectionId: string }) => [each.provider, each.connectionId])).toEqual([
      ['provider-a', accounts[0]],
      ['provider-b', accounts[1]],
      ['provider-c', accounts[2]],
    ]);
    expect(data.some(({ provider }: { provider: string }) => provider === 'gateway')).toBe(true);

    const routines: string[] = [];
    for (const [index, slot] of (['provider-a', 'provider-b', 'provider-c'] as const).entries()) {
      routines.push(await activeRoutine(session, { model: modelOn(slot, accounts[index]) }));
    }
    providers.control.reset();
    await changeRoutines(service.deps.database, routines, { nextRunAt: AT_ONCE });
    await tick(service.deps);
    const said: string[] = [];
    for (const [index, routineId] of routines.entries()) {
      const [run] = (await session.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
      const ended = await runEnded(session, run.id);
      expect(ended).toMatchObject({
        state: 'succeeded',
        trigger: 'schedule',
        model: { connectionId: accounts[index], modelId: MODEL },
        usage: { costUsd: null },
      });
      said.push(JSON.stringify(ended), await historyOf(service, run.id));
    }
    const requests = providers.control.requests();
    expect(requests.map(({ protocol }) => protocol).toSorted()).toEqual([
      'anthropic-messages',
      'openai-chat',
      'openai-responses',
    ]);
    // Only the requests contain the credentials.
    const credentials = requests.map(
      ({ headers }) => headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', ''),
    );
    expect(new Set(credentials).size).toBe(3);
    const everything = [...said, fixture.runtime.output()].join('\n');
    expect(everything).toContain('"outcome":"ok"');
    for (const credential of credentials) expect(everything).not.toContain(credential);
  },
);
