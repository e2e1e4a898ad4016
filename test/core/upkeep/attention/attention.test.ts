import { expect, onTestFinished } from 'vitest';
import { newId } from '#lib/ids.ts';
import { actionsOf, holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { startTracker } from '#test/core/execution/actions/tracker.ts';
import { ended, routineOf } from '#test/core/upkeep/digests/world.ts';
import {
  ago,
  changeConnections,
  changeProjects,
  changeRoutines,
  plantAccounts,
  plantConnection,
  plantTotals,
} from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

const NOTHING = {
  held: [],
  stopped: [],
  failed: [],
  withoutTools: [],
  signIns: [],
  budgets: [],
  skillsBehind: [],
  questions: [],
  truncated: false,
};

test('failures count until a success, by routine, and not where the service has stopped it', async ({ service }) => {
  const owner = await signUp(service);
  const key = await owner.key(['runs:read']);
  const read = async () => (await key.get('/v1/attention')).data;
  expect(await read()).toEqual(NOTHING);
  const failure = { state: 'failed', reason: 'provider_error' } as const;
  const broken = await routineOf(service, owner, 'Broken');
  await ended(service, broken, { ...failure, minutes: 40 });
  const last = await ended(service, broken, failure);
  const mended = await routineOf(service, owner, 'Mended');
  await ended(service, mended, { ...failure, minutes: 40 });
  await ended(service, mended);
  const old = await routineOf(service, owner, 'Old');
  await ended(service, old, { ...failure, minutes: 1_500 });
  const stopped = await routineOf(service, owner, 'Stopped');
  await ended(service, stopped, failure);
  const stateReason = 'paused after 1 failed runs in a row';
  await changeRoutines(service.deps.database, stopped, { state: 'paused', stateReason });
  expect(await read()).toEqual({
    ...NOTHING,
    failed: [
      {
        routineId: broken,
        routineName: 'Broken',
        runId: last,
        reason: 'provider_error',
        errorMessage: null,
        finishedAt: expect.any(String),
        runs: 2,
      },
    ],
    stopped: [
      {
        routineId: stopped,
        routineName: 'Stopped',
        state: 'paused',
        reason: stateReason,
        updatedAt: expect.any(String),
      },
    ],
  });
});

test('budgets from 80 % on, of the routine, its project and its organization, the fullest first', async ({
  service,
}) => {
  const owner = await signUp(service);
  const { database } = service.deps;
  const spender = await routineOf(service, owner, 'Spender');
  const thrifty = await routineOf(service, owner, 'Thrifty');
  await changeRoutines(database, [spender, thrifty], { maxTokensPerDay: 1_000 });
  await changeProjects(database, owner.projectId, { maxCostUsdPerMonth: 10 });
  await owner.session.patch(`/v1/organizations/${owner.organizationId}`, {
    budget: { maxCostUsdPerMonth: '10' },
  });
  const at = new Date();
  await plantTotals(database, spender, { at, tokens: 1_200, costUsd: 3 });
  await plantTotals(database, thrifty, { at, tokens: 799, costUsd: 3 });
  await plantTotals(database, owner.projectId, { at, tokens: 2_000, costUsd: '8.50' });
  await plantTotals(database, owner.organizationId, { at, tokens: 2_000, costUsd: '7.99' });
  const key = await owner.key();
  expect((await key.get('/v1/attention')).data).toEqual({
    ...NOTHING,
    budgets: [
      {
        scope: 'routine',
        scopeId: spender,
        name: 'Spender',
        limit: 'maxTokensPerDay',
        percent: 120,
      },
      {
        scope: 'project',
        scopeId: owner.projectId,
        name: 'Default',
        limit: 'maxCostUsdPerMonth',
        percent: 85,
      },
    ],
  });
});

test('sign-ins that have ended say whose they are, and another project hears of none', async ({ service }) => {
  const [owner, stranger] = [await signUp(service), await signUp(service)];
  const { database } = service.deps;
  const [account] = await plantAccounts(database, owner.projectId, {
    ownerId: owner.userId,
    state: 'needs_reauthorization',
    credential: 'sealed',
  });
  const id = newId('connection');
  await plantConnection(service, owner.projectId, { id, url: 'https://tools.example.com/' });
  await changeConnections(database, id, {
    state: 'needs_reauthorization',
    updatedAt: ago('1 hour'),
  });
  const updatedAt = expect.any(String);
  const { data } = await (await owner.key()).get('/v1/attention');
  expect(data).toEqual({
    ...NOTHING,
    signIns: [
      {
        kind: 'model_account',
        id: account,
        name: 'Planted',
        ownerId: owner.userId,
        ownerName: 'Test Person',
        updatedAt,
      },
      { kind: 'connection', id, name: 'Planted', ownerId: null, ownerName: null, updatedAt },
    ],
  });
  expect((await (await stranger.key()).get('/v1/attention')).data).toEqual(NOTHING);
  const blind = await owner.key(['routines:read']);
  expect((await blind.get('/v1/attention')).status).toBe(403);
});

test('a run whose held calls wait is named with its tools, until all of them are decided', async ({ service }) => {
  const tracker = await startTracker();
  onTestFinished(() => tracker.stop());
  const [owner, stranger] = [await signUp(service), await signUp(service)];
  const client = owner.session.with({ 'X-Project-Id': owner.projectId });
  const routine = await holdingRoutine(client, ['create_issue', 'comment'], { url: tracker.url });
  const issues = ['One', 'Two'].map((title) => ({ name: 'create_issue', arguments: { title } }));
  const comment = { name: 'comment', arguments: { issue: 1, text: 'Seen.' } };
  const { run, steps } = await runAsking({ service, client }, routine, ...issues, comment);
  const { data } = await client.get('/v1/attention');
  expect(data).toEqual({
    ...NOTHING,
    held: [
      {
        routineId: routine.routineId,
        routineName: run.routineName,
        runId: run.id,
        actionId: steps[0].tool.action.id,
        calls: 3,
        toolNames: ['comment', 'create_issue'],
        expiresAt: expect.any(String),
      },
    ],
  });
  expect((await (await stranger.key()).get('/v1/attention')).data).toEqual(NOTHING);
  for (const { id } of await actionsOf(client, `runId=${run.id}`)) await client.post(`/v1/actions/${id}/reject`, {});
  expect((await client.get('/v1/attention')).data).toEqual(NOTHING);
});

test('an active routine whose skill has a newer text is named until it is activated with that', async ({ service }) => {
  const owner = await signUp(service);
  const key = await owner.key();
  const skill = { name: 'House style', instructions: 'Keep it short, please.' };
  const { data: made } = await key.post('/v1/skills', skill);
  const id = await createRoutine(key, { name: 'Report', skills: [made.id] });
  await runOnce(key, id);
  await key.post(`/v1/routines/${id}/activate`);
  const behind = async () => (await key.get('/v1/attention')).data.skillsBehind;
  expect(await behind()).toEqual([]);
  await key.patch(`/v1/skills/${made.id}`, { instructions: 'Keep it very short, please.' });
  expect(await behind()).toEqual([{ routineId: id, routineName: 'Report', skills: ['House style'] }]);
  await runOnce(key, id);
  await key.post(`/v1/routines/${id}/activate`);
  expect(await behind()).toEqual([]);
});

test('the week is counted by the days of a zone, today last', async ({ service }) => {
  const owner = await signUp(service);
  const id = await routineOf(service, owner, 'Harbour');
  const day = 24 * 60;
  await ended(service, id);
  await ended(service, id, { state: 'failed', reason: 'provider_error' });
  await ended(service, id, { minutes: 3 * day });
  await ended(service, id, { minutes: 8 * day });
  const key = await owner.key();
  const { data } = await key.get('/v1/results/days?timezone=Pacific/Auckland');
  const dateOf = (at: string | number) => new Date(at).toLocaleDateString('sv-SE', { timeZone: 'Pacific/Auckland' });
  const dates = data.days.map(({ date }: { date: string }) => date);
  expect(dates).toEqual(data.days.map(({ startsAt }: { startsAt: string }) => dateOf(startsAt)));
  expect([dates.length, dates.at(-1)]).toEqual([7, dateOf(Date.now())]);
  const counted = (on: string) => data.days.find(({ date }: { date: string }) => date === on) as Record<string, number>;
  const minute = 60_000;
  expect(counted(dateOf(Date.now() - 10 * minute))).toMatchObject({ succeeded: 1, failed: 1 });
  expect(counted(dateOf(Date.now() - 3 * day * minute))).toMatchObject({ succeeded: 1, failed: 0 });
  const total = data.days.reduce((sum: number, each: { succeeded: number }) => sum + each.succeeded, 0);
  expect(total).toBe(2);
  const wrong = await key.get('/v1/results/days?timezone=Mars/Olympus');
  expect(wrong.body.error.code).toBe('invalid_timezone');
});
