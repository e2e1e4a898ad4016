import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { newId } from '#lib/ids.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { openStream } from '#test/core/execution/run-events/event-source.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { routineWith, scriptCalls, type Json } from '#test/core/integrations/tools/support.ts';
import { retain } from './planted-runs.ts';
import { ago, changeRuns } from '#test/support/given.ts';

/** A text that the run writes wherever it can, and that occurs nowhere else. */
const CANARY = 'canary7391';

const test = serviceTest({ worker: true, own: true })
  /** Makes a run with tool calls, variables and a delivered webhook, which has the canary in every possible place. */
  .extend('run', { scope: 'file' }, async ({ service, key }, { onCleanup }) => {
    const tools = await startHostileTools();
    onCleanup(() => tools.stop());
    tools.control.answer = () => `the tool says ${CANARY}`;
    const receiver = await startReceiver((_, response) => response.end(`thanks for ${CANARY}`));
    const mark = 'an-erased-run';
    const { routineId } = await routineWith(key, ['lookup'], {
      connection: { url: tools.url('honest') },
      routine: {
        instructions: `${mark} {{topic}}`,
        mayAsk: true,
        variables: { topic: 'weather' },
        outcome: 'required',
        checks: [{ type: 'result_matches', pattern: 'a' }],
        resultSchema: { type: 'array' },
        webhookUrl: `${receiver.origin}/hook`,
      },
    });
    scriptCalls(
      service,
      mark,
      { name: 'lookup', arguments: { query: CANARY } },
      { name: `invented_${CANARY}`, arguments: { query: CANARY } },
      { name: 'ask', arguments: { question: CANARY, choices: [CANARY, 'other'], default: CANARY } },
    );
    const finish = { name: 'finish', arguments: { outcome: 'done', summary: CANARY } };
    service.gateway.control.script({
      marker: mark,
      behaviour: { kind: 'tool-calls', calls: [finish], text: JSON.stringify([CANARY]) },
    });
    const ended = await runOnce(key, routineId, { variables: { topic: CANARY } });
    expect(ended.state).toBe('succeeded');
    await expect
      .poll(async () => (await key.get(`/v1/runs/${ended.id}`)).data.webhookDeliveries.map(({ state }: Json) => state))
      .toEqual(['delivered', 'delivered']);
    return { ...(await key.get(`/v1/runs/${ended.id}`)).data, routineId };
  });

test('what a run, its tools and its receiver wrote is erased, and what it was stays', async ({ service, key, run }) => {
  const { database } = service.deps;
  const holding = async () => {
    const found = await database.rows<{ relation: string; text: string }>`
      select 'runs' as relation, runs::text as text from runs where id = ${run.id}
      union all select 'steps ' || index, steps::text from steps where run_id = ${run.id}
      union all select 'delivery', d::text from webhook_deliveries d where run_id = ${run.id}
      union all select 'attempt', a::text from webhook_attempts a
        join webhook_deliveries d on d.id = a.delivery_id where d.run_id = ${run.id}
      union all select 'question', q::text from questions q where q.last_run_id = ${run.id}
    `;
    return found.filter(({ text }) => text.includes(CANARY)).map(({ relation }) => relation);
  };
  expect((await holding()).toSorted()).toEqual([
    'attempt',
    'attempt',
    'delivery',
    'delivery',
    'question',
    'runs',
    'steps 0',
    'steps 1',
    'steps 2',
    'steps 3',
    'steps 4',
  ]);
  expect(await retain(database)).toEqual({ erased: 0, deleted: 0 });
  await endedDaysAgo(database, run.id, 89.9);
  expect(await retain(database)).toEqual({ erased: 0, deleted: 0 });
  await endedDaysAgo(database, run.id, 90.1);
  expect(await retain(database)).toEqual({ erased: 1, deleted: 0 });
  expect(await holding()).toEqual([]);

  const { data: erased } = await key.get(`/v1/runs/${run.id}`);
  const { routineId: _routineId, ...before } = run;
  expect(erased).toEqual({
    ...before,
    routineId: run.routineId,
    finishedAt: erased.finishedAt,
    contentErasedAt: expect.stringMatching(/Z$/),
    prompt: null,
    briefing: null,
    result: null,
    outcomeSummary: null,
    data: null,
    resultSchema: null,
    changes: null,
    variables: {},
    steps: run.steps.map((step: Step) => ({
      ...step,
      text: null,
      errorMessage: step.kind === 'tool' ? null : step.errorMessage,
      tool: step.tool && {
        ...step.tool,
        name: step.tool.toolName === null ? '' : step.tool.name,
        connectionName: null,
        arguments: null,
        result: null,
        structured: null,
        attachments: [],
      },
    })),
    webhookDeliveries: run.webhookDeliveries.map((delivery: { attempts: object[] }) => ({
      ...delivery,
      attempts: delivery.attempts.map((attempt) => ({ ...attempt, responseExcerpt: null })),
    })),
  });
  expect(erased.usage.inputTokens).toBeGreaterThan(0);
  const { data: listed } = await key.get(`/v1/routines/${run.routineId}/runs`);
  expect(listed[0]).toMatchObject({
    id: run.id,
    resultPreview: null,
    contentErasedAt: erased.contentErasedAt,
  });
});

test('what was wrong with a result is erased with it, as it may quote it', async ({ service, key }) => {
  const { database } = service.deps;
  const resultSchema = { type: 'object', additionalProperties: false };
  const id = await createRoutine(key, { resultSchema, limits: { maxSteps: 1 } });
  const text = JSON.stringify({ [CANARY]: 1 });
  service.gateway.control.script({ behaviour: { kind: 'text', text } });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'result_invalid' });
  expect(run.errorMessage).toContain(CANARY);
  await endedDaysAgo(database, run.id, 90.1);
  await retain(database);
  const { data: erased } = await key.get(`/v1/runs/${run.id}`);
  expect(erased).toMatchObject({ reason: 'result_invalid', errorMessage: null });
  expect(JSON.stringify(erased)).not.toContain(CANARY);
});

test('an erased run is followed to its end, without texts', async ({ service, key, run }) => {
  await erase(service.deps.database, run.id);
  const follow = (headers: Record<string, string>) =>
    openStream(`${service.url}/v1/runs/${run.id}/events`, { ...key.headers, ...headers });
  const events = await (await follow({})).rest();
  expect(events.map(({ event }) => event)).toEqual(['step', 'step', 'step', 'step', 'step', 'state']);
  expect(events.map(({ data }) => data.text ?? data.result ?? null)).toEqual(events.map(() => null));
  expect(events.at(-1)!.data.contentErasedAt).toMatch(/Z$/);
  expect((await follow({ 'Last-Event-ID': events.at(-1)!.id })).status).toBe(204);
});

test('what is erased can be neither repeated nor sent again, and says so', async ({ service, key, bobsKey, run }) => {
  await erase(service.deps.database, run.id);
  const [delivery] = run.webhookDeliveries;
  const attempts = [`/v1/runs/${run.id}/retry`, `/v1/runs/${run.id}/webhook-deliveries/${delivery.id}/redeliver`];
  for (const path of attempts) {
    const { status, body } = await key.post(path);
    expect([path, status, body.error.code]).toEqual([path, 409, 'content_erased']);
    expect((await bobsKey.post(path)).body.error.code).toBe('run_not_found');
  }
  const unknown = `/v1/runs/${run.id}/webhook-deliveries/${newId('delivery')}/redeliver`;
  expect((await key.post(unknown)).body.error.code).toBe('delivery_not_found');
  const found = await service.deps.database.row<{
    state: string;
  }>`select state from webhook_deliveries where id = ${delivery.id}`;
  expect(found).toEqual({ state: 'delivered' });
});

interface Step {
  readonly kind: string;
  readonly errorMessage: string | null;
  readonly tool: Record<string, unknown> | null;
}

type Database = Parameters<typeof retain>[0];

async function endedDaysAgo(database: Database, runId: string, days: number): Promise<void> {
  await changeRuns(database, runId, { finishedAt: ago(`${days} days`) });
}

/** Erases the run unless an earlier test has erased it. */
async function erase(database: Database, runId: string): Promise<void> {
  await endedDaysAgo(database, runId, 91);
  await retain(database);
}
