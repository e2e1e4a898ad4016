import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FORM, prices } from '#test/core/execution/results/world.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import { MODEL, modelOn, startWorld, type World } from './world.ts';

// Tests of typed results on accounts whose provider file says that all models, or one, can be held to a schema.
let world: World;
const OTHER_MODEL = 'fixture/account-large';

beforeAll(async () => {
  world = await startWorld({
    worker: true,
    rig: {
      apiOf: {
        'provider-a': { options: { structuredOutputs: true } },
        'provider-b': { options: { structuredOutputs: ['another/model', MODEL] } },
      },
    },
  });
  await world.rig.start(world.runtimeEnv);
});
afterAll(() => world?.close());
beforeEach(() => world.rig.providers.control.reset());

const DATA = prices({ tea: 3 });

function completions(): Record<string, unknown>[] {
  const requests = world.rig.providers.control.requests();
  return requests.flatMap(({ method, body }) => (method === 'POST' ? [body as Record<string, unknown>] : []));
}

test.for<[ProviderSlot, string, object]>([
  [
    'provider-a',
    'response_format',
    {
      type: 'json_schema',
      json_schema: { name: 'result', strict: false, schema: FORM.resultSchema },
    },
  ],
  ['provider-b', 'text', { format: { type: 'json_schema', name: 'result', strict: false, schema: FORM.resultSchema } }],
])(
  'an account of %s is asked for data by the schema in the request itself, also to repair it',
  async ([slot, field, asked]) => {
    const { key, rig } = world;
    const model = modelOn(slot, await world.account(slot));
    const option = (await key.get('/v1/models')).data.find(
      ({ connectionId }: { connectionId: string | null }) => connectionId === model.connectionId,
    );
    expect(option.structuredOutputs).toBe(true);
    const id = await createRoutine(key, {
      ...FORM,
      instructions: `List the prices.\nDATA ${JSON.stringify(DATA)}`,
      model,
    });
    rig.providers.control.script({ kind: 'text', text: 'No.' });
    expect(await runOnce(key, id)).toMatchObject({
      state: 'succeeded',
      stepCount: 2,
      data: DATA,
    });
    expect(completions().map((body) => body[field])).toEqual([asked, asked]);

    // A run that states its outcome gives the data in the same call, without a schema in the request.
    rig.providers.control.reset();
    await key.patch(`/v1/routines/${id}`, { outcome: 'required' });
    expect(await runOnce(key, id)).toMatchObject({ outcome: 'done', data: DATA, stepCount: 1 });
    const [both] = completions();
    expect(both).not.toHaveProperty(field);
    expect(JSON.stringify(both?.['tools'])).toContain(JSON.stringify(FORM.resultSchema));

    // Without a schema the request asks for no JSON.
    rig.providers.control.reset();
    await runOnce(key, await createRoutine(key, { model }));
    expect(completions()[0]).not.toHaveProperty(field);
  },
);

test.for<[ProviderSlot, boolean]>([
  ['provider-a', true],
  ['provider-b', false],
])(
  'what the file of %s says of schemas holds for all models, or for those that it names: %s',
  async ([slot, heldToSchema]) => {
    const { key } = world;
    const connectionId = await world.account(slot, { models: [MODEL, OTHER_MODEL] });
    const { data: options } = await key.get('/v1/models');
    const taking = (options as { connectionId: string; modelId: string; structuredOutputs: boolean }[])
      .filter((option) => option.connectionId === connectionId)
      .map(({ modelId, structuredOutputs }) => [modelId, structuredOutputs]);
    expect(Object.fromEntries(taking)).toEqual({ [MODEL]: true, [OTHER_MODEL]: heldToSchema });
    const id = await createRoutine(key, {
      ...FORM,
      instructions: `List the prices.\nDATA ${JSON.stringify(DATA)}`,
      model: modelOn(slot, connectionId, OTHER_MODEL),
    });
    expect(await runOnce(key, id)).toMatchObject({ state: 'succeeded', data: DATA });
    const [sent] = completions();
    expect('response_format' in sent! || 'text' in sent!).toBe(heldToSchema);
  },
);

test('an account whose provider file says nothing of it is only told', async () => {
  const { key } = world;
  const model = modelOn('provider-c', await world.account('provider-c'));
  const id = await createRoutine(key, {
    ...FORM,
    instructions: `List the prices.\nDATA ${JSON.stringify(DATA)}`,
    model,
  });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'succeeded', data: DATA });
  expect(run.prompt).toContain(JSON.stringify(FORM.resultSchema));
  const [sent] = completions();
  for (const field of ['output_config', 'response_format', 'text', 'tool_choice']) {
    expect(sent).not.toHaveProperty(field);
  }
});
