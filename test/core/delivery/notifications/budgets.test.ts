import { describe, expect } from 'vitest';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import type { Person } from '#test/support/people.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { EVERYTHING, mailingTest, newsTo, outboxOf, sendNow, watchedRoutine } from './fixture.ts';
import { changeTotals, plantRun, spendToday } from '#test/support/given.ts';

// Tests of budgets that run out during a run. `mails.test.ts` has budgets that run out at the end of a run.
const test = mailingTest();

test.afterEach(({ service }) => service.gateway.control.reset());

const CALCULATES = {
  kind: 'tool-calls' as const,
  calls: [{ name: 'calculate', arguments: { operation: 'arithmetic', expression: '2 + 2' } }],
};

/** Makes a routine that calculates before it answers, and uses up this much of its budget for today. */
async function spender(service: Service, key: ApiClient, used: number): Promise<string> {
  const id = await watchedRoutine(key, {
    name: 'Spender',
    builtInTools: ['calculate'],
    budget: { maxTokensPerDay: 1_000_000 },
  });
  await runOnce(key, id);
  await setUsed(service, id, used);
  return id;
}

async function setUsed({ deps }: Service, scopeId: string, tokens: number): Promise<void> {
  // The news of earlier runs depend on the usage at the time, so wait until they are sent.
  await deps.work.idle();
  await spendToday(deps.database, scopeId, tokens);
}

/** Lists the notices of budget thresholds, including those of mails that were not sent. */
async function budgetNews(service: Service, projectId: string) {
  return (await outboxOf(service, projectId)).filter(({ kind }) => kind === 'budget');
}

test('a budget is told of when a step passes the mark, while its run goes on, and not again when it ends', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await spender(service, key, 799_990);
  const { control } = service.gateway;
  control.script({ behaviour: CALCULATES });
  control.script({ behaviour: { kind: 'hang' } });
  const { data } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(() => budgetNews(service, owner.projectId)).toHaveLength(1);
  const run = (await key.get(`/v1/runs/${data.id}`)).data;
  expect(run).toMatchObject({ state: 'running', stepCount: 1 });
  expect(run.notifications).toMatchObject([{ kind: 'budget', state: 'pending' }]);
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Budget at 80 %: Spender']);
  await key.post(`/v1/runs/${data.id}/cancel`);
  expect((await runEnded(key, data.id)).notifications).toMatchObject([{ state: 'sent' }]);

  // The text has ten thousand tokens, so nothing is left for another step.
  control.reset();
  const other = await spender(service, key, 994_000);
  control.script({ behaviour: { ...CALCULATES, text: 'x'.repeat(40_000) } });
  const last = await runOnce(key, other);
  expect(last).toMatchObject({ state: 'failed', reason: 'budget_exceeded', stepCount: 1 });
  await sendNow(service);
  // The step and the end of the run both find the budget used up, and only the first of them reports it.
  const subjects = (await newsTo(mailbox, owner)).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject.includes('Budget used up'))).toHaveLength(1);
  expect(await noticesOf(service, owner.projectId)).toEqual([
    { scope_id: id, percent: 80 },
    { scope_id: other, percent: 100 },
  ]);
});

test('of steps that pass the mark at the same time one causes mail, to the routine’s and to the project’s followers', async ({
  service,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  await owner.session.patch(`/v1/projects/${owner.projectId}`, {
    budget: { maxTokensPerDay: 1_000_000 },
    notifications: { mail: EVERYTHING },
  });
  const id = await spender(service, key, 799_990);
  await setUsed(service, owner.projectId, 799_990);
  const { control } = service.gateway;
  for (let run = 0; run < 8; run += 1) control.script({ behaviour: CALCULATES });
  // Half of the runs fail, so that their ends lock the same rows as the others' steps.
  const refused = { kind: 'text' as const, text: 'No.', finishReason: 'content_filter' };
  control.script({ times: 4, behaviour: refused });
  const started = await Promise.all(Array.from({ length: 8 }, () => key.post(`/v1/routines/${id}/run`)));
  const ended = await Promise.all(started.map(({ data }) => runEnded(key, data.id)));
  expect(ended.map(({ reason }) => String(reason)).toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 'content_filtered'),
    ...Array.from({ length: 4 }, () => 'null'),
  ]);
  await sendNow(service);
  expect(await noticesOf(service, owner.projectId)).toEqual([
    { scope_id: owner.projectId, percent: 80 },
    { scope_id: id, percent: 80 },
  ]);
  expect(await budgetNews(service, owner.projectId)).toHaveLength(2);
});

test('a run that a budget keeps from its first step says that this one is used up, and no other', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await spender(service, key, 850_000);
  await owner.session.patch(`/v1/projects/${owner.projectId}`, {
    budget: { maxCostUsdPerMonth: '0.001' },
    notifications: { mail: { on: ['budget'], to: 'owners' } },
  });
  const scopeId = owner.projectId;
  await changeTotals(service.deps.database, { scopeId }, { monthCostUsd: 0.00099 });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_budget', stepCount: 0 });
  await service.deps.work.idle();
  expect(await noticesOf(service, owner.projectId)).toEqual([
    { scope_id: owner.projectId, percent: 100 },
    { scope_id: id, percent: 80 },
  ]);
  await sendNow(service);
  const mails = await newsTo(mailbox, owner);
  expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
    'Budget used up: Spender',
    'Failed, Budget at 80 %: Spender',
  ]);
});

test('a response that is too late to be recorded still causes mail about the budget that it has passed', async ({
  service,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const id = await spender(service, key, 799_000);
  const { database } = service.deps;
  const runId = await plantRun(database, id, { timeoutSeconds: 900, admittedAt: new Date() });
  const sent = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const perform = (tokens: number, whenSent: () => Promise<void>) => {
    const caller: ModelCaller = {
      timeoutMs: 60_000,
      close: () => Promise.resolve(),
      async call() {
        await whenSent();
        const usage = {
          inputTokens: tokens,
          cachedInputTokens: 0,
          outputTokens: 1,
          reasoningTokens: 0,
          estimated: false,
        };
        return { text: 'Done.', messages: [], toolCalls: [], finishReason: 'stop', usage };
      },
    };
    const { signal } = new AbortController();
    return performModelStep({ ...service.deps, caller }, { runId, index: 0 }, signal);
  };
  const overtaken = perform(2_000, () => {
    sent.resolve();
    return late.promise;
  });
  await sent.promise;
  expect(await perform(10, () => Promise.resolve())).toEqual({ next: 'ended', state: 'succeeded' });
  expect(await budgetNews(service, owner.projectId)).toEqual([]);
  late.resolve();
  expect(await overtaken).toEqual({ next: 'ended', state: 'succeeded' });
  await sendNow(service);
  expect(await noticesOf(service, owner.projectId)).toEqual([{ scope_id: id, percent: 80 }]);
  expect(await budgetNews(service, owner.projectId)).toHaveLength(1);
});

describe('the budget of an organization', () => {
  /** Makes a project in the person's organization whose members get mails about budgets. */
  async function following(owner: Person, name: string, mail: object = { on: ['budget'], to: 'owners' }) {
    const { data } = await owner.session.post('/v1/projects', {
      name,
      organizationId: owner.organizationId,
    });
    await owner.session.patch(`/v1/projects/${data.id}`, { notifications: { mail } });
    return data.id as string;
  }

  test('is told to the followers of all its projects with the step of a routine without followers', async ({
    service,
    mailbox,
    person,
  }) => {
    const [owner, stranger] = [await person(), await person()];
    const key = await owner.key();
    await owner.session.patch(`/v1/organizations/${owner.organizationId}`, {
      budget: { maxTokensPerDay: 1_000_000 },
    });
    const quiet = await following(owner, 'Quiet');
    const deaf = await following(owner, 'Deaf', { on: ['failed'], to: 'owners' });
    const foreign = await following(stranger, 'Foreign');
    const id = await createRoutine(key, { name: 'Spender', builtInTools: ['calculate'] });
    await runOnce(key, id);
    await setUsed(service, owner.organizationId, 799_990);
    const { control } = service.gateway;
    control.script({ behaviour: CALCULATES });
    control.script({ behaviour: { kind: 'hang' } });
    const { data } = await key.post(`/v1/routines/${id}/run`);
    await expect.poll(() => budgetNews(service, quiet)).toHaveLength(1);
    expect((await key.get(`/v1/runs/${data.id}`)).data).toMatchObject({
      state: 'running',
      stepCount: 1,
      notifications: [],
    });
    for (const other of [deaf, foreign, owner.projectId]) {
      expect([other, await noticesOf(service, other)]).toEqual([other, []]);
    }
    await sendNow(service);
    const mails = await newsTo(mailbox, owner);
    expect(mails.map(({ subject }) => subject)).toEqual(['Budget at 80 %: Quiet']);
    expect(mails[0]?.text).toContain('The organization has used 80 % of its budget');
    expect(mails[0]?.text).toContain(`/p/${quiet}/usage`);
    expect(mails[0]?.text).not.toMatch(new RegExp(`Spender|${id}|${data.id}|${owner.projectId}`));
    expect(await newsTo(mailbox, stranger)).toEqual([]);
    await key.post(`/v1/runs/${data.id}/cancel`);
    await runEnded(key, data.id);
    expect(await budgetNews(service, quiet)).toHaveLength(1);
  });

  test('is told to each project once, whichever of them pass the mark at the same time', async ({
    service,
    person,
  }) => {
    const owner = await person();
    await owner.session.patch(`/v1/organizations/${owner.organizationId}`, {
      budget: { maxTokensPerDay: 1_000_000 },
    });
    const projects = [owner.projectId, await following(owner, 'B'), await following(owner, 'C')];
    await owner.session.patch(`/v1/projects/${owner.projectId}`, {
      notifications: { mail: EVERYTHING },
    });
    const spenders = await Promise.all(
      projects.map(async (projectId) => {
        const client = owner.session.with({ 'X-Project-Id': projectId });
        const id = await createRoutine(client);
        await runOnce(client, id);
        return { client, id };
      }),
    );
    await setUsed(service, owner.organizationId, 799_990);
    const ended = await Promise.all([...spenders, ...spenders].map(({ client, id }) => runOnce(client, id)));
    expect(ended.map(({ state }) => state)).toEqual(ended.map(() => 'succeeded'));
    for (const project of projects) {
      expect(await noticesOf(service, project)).toEqual([{ scope_id: owner.organizationId, percent: 80 }]);
      expect(await budgetNews(service, project)).toHaveLength(1);
    }
  });
});

function noticesOf({ deps }: Service, projectId: string) {
  return deps.database.rows<{
    scope_id: string;
    percent: number;
  }>`select scope_id, percent from budget_notices where project_id = ${projectId} order by scope_id, percent`;
}
