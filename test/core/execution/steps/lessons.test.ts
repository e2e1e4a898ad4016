import { expect, onTestFinished } from 'vitest';
import { createAbilityStore } from '#core/models/directory/index.ts';
import { FORM } from '#test/core/execution/results/world.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { callerAt, callOf } from '#test/support/model-caller.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { marker, requestsWith, type Json } from '#test/core/integrations/tools/support.ts';

// Tests of refused requests: they change later requests of the same organization only.
const base = serviceTest({ worker: true, own: true });

const MODEL = { source: 'gateway', modelId: 'fixture/writer-small' };
const ANALYST = { model: { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' } };
const LIMITED = { limits: { maxOutputTokens: 700 } };

const test = base
  .extend('person', ({ service }) => signUp(service))
  /** Runs a routine whose model gets these refusals, once each or always; returns the run and its requests. */
  .extend('meeting', ({ service }) => async (key: ApiClient, fields: object, refusals: object[], all = false) => {
    const mark = marker();
    const id = await createRoutine(key, { instructions: `Report. ${mark}`, ...fields });
    for (const refusal of refusals) {
      const behaviour = { kind: 'error' as const, status: 400, ...refusal };
      service.gateway.control.script({ marker: mark, times: all ? null : 1, behaviour });
    }
    const run = await runOnce(key, id);
    return { run, bodies: requestsWith(service, mark).map(({ body }): Json => body) };
  });

function unsupported(field: string) {
  return { message: `Unsupported parameter: '${field}'.` };
}

test('a schema whose property is named like the limit switches off nothing, for anybody', async ({
  service,
  person,
  bob,
  meeting,
}) => {
  service.gateway.control.manner('openai');
  onTestFinished(() => service.gateway.control.manner('fixture'));
  const resultSchema = { type: 'object', properties: { max_tokens: { type: 'array' } } };
  const fields = { ...LIMITED, resultSchema, builtInTools: ['calculate'] };
  const { run, bodies } = await meeting(await person.key(), fields, []);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_refused' });
  expect(run.errorMessage).toContain("'max_tokens'), array schema missing items");
  expect(bodies.map(({ max_tokens: limit }) => limit)).toEqual([700]);
  for (const each of [person, bob]) {
    const { bodies: later } = await meeting(await each.key(), LIMITED, []);
    expect(later).toMatchObject([{ max_tokens: 700, stream: true }]);
  }
});

test('a refusal that one organization got applies to it alone', async ({ person, bob, meeting }) => {
  const [hers, his] = [await person.key(), await bob.key()];
  const first = await meeting(hers, LIMITED, [unsupported('stream_options')]);
  expect(first.run.state).toBe('succeeded');
  const [later, other] = [await meeting(hers, LIMITED, []), await meeting(his, LIMITED, [])];
  expect(later.bodies[0].stream_options).toBeUndefined();
  expect(other.bodies[0].stream_options).toEqual({ include_usage: true });
});

test('a refusal is no lesson where the request without the field is refused as well', async ({
  service,
  person,
  meeting,
}) => {
  const key = await person.key();
  const { run, bodies } = await meeting(key, LIMITED, [unsupported('stream_options')], true);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_refused' });
  expect(bodies.map(({ stream_options: options }) => options === undefined)).toEqual([false, true]);
  expect(service.deps.abilities.of(MODEL, person.organizationId)).toEqual({});
  expect((await meeting(key, LIMITED, [])).bodies).toMatchObject([{ stream_options: { include_usage: true } }]);
});

const LEARNED = { streaming: false, parallelToolCallsField: false } as const;

test('a refusal that nothing explains erases no lesson', async ({ service, person, meeting }) => {
  const { organizationId } = person;
  await service.deps.abilities.learn(MODEL, organizationId, LEARNED);
  const filter = { message: 'The content of this request was blocked by our policy.' };
  const { run, bodies } = await meeting(await person.key(), {}, [filter], true);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_refused' });
  expect(bodies.map(({ stream }) => stream)).toEqual([undefined, true]);
  expect(service.deps.abilities.of(MODEL, organizationId)).toEqual(LEARNED);
});

test('lessons of a model that was replaced under its name are forgotten once it does without', async ({
  service,
  person,
  meeting,
}) => {
  const { organizationId } = person;
  await service.deps.abilities.learn(MODEL, organizationId, { outputLimit: 'max_completion_tokens', ...LEARNED });
  const strange = { status: 422, json: { detail: [{ loc: ['body', 'max_completion_tokens'], msg: 'Not permitted' }] } };
  const { run, bodies } = await meeting(await person.key(), LIMITED, [strange, { message: 'No.' }]);
  expect(run.state).toBe('succeeded');
  expect(bodies).toHaveLength(3);
  expect(bodies[2]).toMatchObject({ max_tokens: 700, stream: true });
  expect(service.deps.abilities.of(MODEL, organizationId)).toEqual({});
  const another = createAbilityStore(service.deps);
  await another.refresh();
  expect(another.of(MODEL, organizationId)).toEqual({});
});

/** Refusals of the limit under both names. */
const NO_LIMIT = [unsupported('max_tokens'), unsupported('max_completion_tokens')];

test.for([
  ['its limits', LIMITED],
  ['a budget', { budget: { maxTokensPerDay: 100_000 } }],
])(
  'a server that takes no limit is refused what rests on one: %s',
  async ([, fields], { service, person, meeting }) => {
    await service.deps.abilities.learn(MODEL, person.organizationId, { outputLimit: 'none' });
    const { run, bodies } = await meeting(await person.key(), fields as object, [...NO_LIMIT, ...NO_LIMIT]);
    expect(run).toMatchObject({ state: 'failed', reason: 'model_refused' });
    expect(run.errorMessage).toContain('Unsupported parameter');
    for (const body of bodies) expect(body.max_tokens ?? body.max_completion_tokens).toBeGreaterThan(0);
  },
);

test('a server that accepts no limit is called without one if no budget needs it', async ({ service }) => {
  const mark = marker();
  for (const refusal of NO_LIMIT) {
    service.gateway.control.script({ marker: mark, behaviour: { kind: 'error', status: 400, ...refusal } });
  }
  const caller = callerAt(service.gateway.url);
  const messages = [{ role: 'user' as const, content: mark }];
  await caller.call(callOf(MODEL.modelId, { messages, maxOutputTokens: 4_096, limitMayGo: true }));
  await caller.close();
  const limits = requestsWith(service, mark).map(({ body }): Json => body);
  expect(limits.map(({ max_tokens: one, max_completion_tokens: other }) => [one, other])).toEqual([
    [4_096, undefined],
    [undefined, 4_096],
    [undefined, undefined],
  ]);
});

test('a limit that the server takes under another name and passes is not learned', async ({
  service,
  person,
  meeting,
}) => {
  const mark = marker();
  const fields = { limits: { maxOutputTokens: 300 }, instructions: `Report. ${mark}` };
  const usage = { prompt_tokens: 50, completion_tokens: 301, total_tokens: 351 };
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'error', status: 400, ...NO_LIMIT[0] } });
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'usage', usage } });
  const { run } = await meeting(await person.key(), fields, []);
  expect(run.state).toBe('succeeded');
  expect(service.deps.abilities.of(MODEL, person.organizationId)).toEqual({});
});

test('a schema that a server dislikes is left out by itself', async ({ person, meeting }) => {
  const key = await person.key();
  const message = "Invalid schema for response_format 'result': 'price' is not permitted here.";
  const { run } = await meeting(key, { ...FORM, ...ANALYST }, [{ message }]);
  expect(run.state).toBe('succeeded');
  const again = await meeting(key, { ...FORM, ...ANALYST }, []);
  expect(again.bodies[0].response_format).toBeUndefined();
  const resultSchema = { type: 'object', properties: { other: { type: 'string' } } };
  const other = await meeting(key, { resultSchema, ...ANALYST }, []);
  expect(other.bodies[0].response_format).toBeDefined();
});

test('two workers that learn and forget at once lose nothing of each other', async ({ service, person }) => {
  const { organizationId } = person;
  const [one, two] = [createAbilityStore(service.deps), createAbilityStore(service.deps)];
  await Promise.all([
    one.learn(MODEL, organizationId, { streaming: false, outputLimit: 'max_completion_tokens' }),
    two.learn(MODEL, organizationId, { streamUsage: false, outputLimit: 'max_tokens' }),
  ]);
  await one.learn(MODEL, organizationId, { outputLimit: 'max_tokens' });
  // This process has learned an older limit.
  await two.forget(MODEL, organizationId, { outputLimit: 'max_completion_tokens', streamUsage: false });
  const third = createAbilityStore(service.deps);
  await third.refresh();
  expect(third.of(MODEL, organizationId)).toEqual({ streaming: false, outputLimit: 'max_tokens' });
});

test('what a test of a model has shown holds for the organization that made it', async ({ service, bob }) => {
  const ada: Person = await signUp(service);
  const testOf = ({ session, projectId }: Person) => session.with({ 'X-Project-Id': projectId });
  const seenBy = async (person: Person) => {
    const { data } = await testOf(person).get('/v1/models');
    return data.find(({ modelId }: Json) => modelId === 'fixture/analyst').abilities.structuredOutputs;
  };
  const before = await seenBy(bob);
  service.gateway.control.script({ marker: 'capital', behaviour: { kind: 'text', text: 'Paris.' } });
  const { data } = await testOf(ada).post('/v1/models/test', { modelId: 'fixture/analyst' });
  expect([data.abilities.structuredOutputs, await seenBy(ada)]).toEqual([false, false]);
  expect(before).not.toBe(false);
  expect(await seenBy(bob)).toBe(before);
});
