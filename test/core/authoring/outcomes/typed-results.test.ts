import { expect } from 'vitest';
import { changeRuns } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { requestsWith, slowSchema } from '#test/core/integrations/tools/support.ts';
import { FORM, prices, typedRoutine } from '#test/core/execution/results/world.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = serviceTest({ worker: true });

test('a run keeps the data of its result beside the text', async ({ service, key }) => {
  const routine = await typedRoutine(service, key);
  const text = `${JSON.stringify(prices({ tea: 3 }), null, 2)}\n`;
  const run = await routine.run(text);
  expect(run).toMatchObject({ state: 'succeeded', result: text, data: prices({ tea: 3 }) });
  expect(run.stepCount).toBe(1);
  const [asked] = requestsWith(service, routine.mark);
  expect(run.prompt).toContain(`## Form of the result`);
  expect(run.prompt).toContain(JSON.stringify(FORM.resultSchema));
  expect(run.prompt).toContain('told apart by the JSON Pointer `/id`');
  // The list does not say that this model can be held to a schema.
  expect(asked.body.response_format).toBeUndefined();
  const [listed] = (await key.get(`/v1/routines/${routine.id}/runs`)).data;
  expect(listed.data).toBeUndefined();
  expect(listed.changes).toEqual({
    against: null,
    unchangedRuns: 0,
    counts: { added: 1, removed: 0, changed: 0 },
  });
});

test('a run without a schema has neither data nor changes, with any text', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key, { resultSchema: null, resultKey: null });
  expect(await run(prices({ tea: 3 }))).toMatchObject({
    state: 'succeeded',
    data: null,
    changes: null,
    withheld: null,
  });
});

test('a model that can be held to a schema is held to it by its request', async ({ service, key }) => {
  const models = (await key.get('/v1/models')).data as {
    modelId: string;
    structuredOutputs: boolean;
  }[];
  const structured = models.filter(({ structuredOutputs }) => structuredOutputs);
  expect(structured.map(({ modelId }) => modelId)).toEqual(['fixture/analyst']);
  const model = { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' };
  const { id, mark } = await typedRoutine(service, key, { model });
  expect(await runOnce(key, id)).toMatchObject({
    state: 'succeeded',
    data: { items: [{ id: 'example', price: 1 }] },
  });
  const [asked] = requestsWith(service, mark);
  expect(asked.body.response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: 'result', strict: false, schema: FORM.resultSchema },
  });

  // Without a schema the request asks for no JSON.
  const plain = await createRoutine(key, { model, instructions: `plain-${mark}` });
  await runOnce(key, plain);
  const [, other] = requestsWith(service, mark);
  expect(other.body.response_format).toBeUndefined();
});

test('a result in a Markdown fence is read as what stands in it', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key);
  const json = JSON.stringify(prices({ tea: 3 }));
  expect(await run(`\`\`\`json\n${json}\n\`\`\``)).toMatchObject({ data: prices({ tea: 3 }) });
});

test('if a result does not fit the schema, the model is asked once more, with the error', async ({ service, key }) => {
  const routine = await typedRoutine(service, key);
  const wrong = { items: [{ id: 'tea', price: 'three' }] };
  const run = await routine.run(wrong, prices({ tea: 3 }));
  expect(run).toMatchObject({ state: 'succeeded', stepCount: 2, data: prices({ tea: 3 }) });
  const [, repair] = requestsWith(service, routine.mark);
  const messages = repair.body.messages as { role: string; content: string }[];
  expect(messages.slice(-2)).toEqual([
    { role: 'assistant', content: JSON.stringify(wrong) },
    {
      role: 'user',
      content: expect.stringMatching(
        /^That is not the result that was asked for: items\.0\.price must be number\. Send the whole result again/,
      ),
    },
  ]);
});

test.for<[string, string | object, string]>([
  ['prose', 'All is well.', 'it is not JSON'],
  ['JSON with words around it', `Here it is: {"items":[]}`, 'it is not JSON'],
  ['JSON of another form', { list: [] }, "the value must have required property 'items'"],
  [
    'an item twice',
    {
      items: [
        { id: 'a', price: 1 },
        { id: 'a', price: 2 },
      ],
    },
    'resultKey: item 1 of the list at /items has the key of an earlier item',
  ],
  ['far too deep JSON', '['.repeat(5_000) + ']'.repeat(5_000), 'it is nested too deeply'],
  ['more than 256 kB of JSON', { items: [], note: 'x'.repeat(256 * 1024) }, 'it is larger than 256 kB as JSON'],
])('a run that gives %s twice fails and says why', async ([, message, issue], { service, key }) => {
  const { run } = await typedRoutine(service, key);
  const failed = await run(message, message);
  expect(failed).toMatchObject({
    state: 'failed',
    reason: 'result_invalid',
    failureClass: 'routine',
    stepCount: 2,
    data: null,
    changes: null,
    result: typeof message === 'string' ? message : JSON.stringify(message),
  });
  expect(failed.errorMessage).toContain(`The result is not what was asked for: ${issue}`);
});

test.for<[string, object, string]>([
  ['no list', { note: 'x' }, 'resultKey: there is no list at /items'],
  ['an item without its key', { items: [{ id: 'a' }, { name: 'b' }] }, 'item 1 of the list at /items has no text'],
  ['a key that is null', { items: [{ id: null }] }, 'item 0 of the list at /items has no text'],
  ['a key twice', { items: [{ id: 1 }, { id: 1 }] }, 'item 1 of the list at /items has the key of an earlier item'],
])(
  'data with %s is asked for once more, and fails the run when it comes again',
  async ([, data, issue], { service, key }) => {
    // This schema requires nothing, so only the service's own rules can refuse the data.
    const routine = await typedRoutine(service, key, { resultSchema: { type: 'object' } });
    const failed = await routine.run(data, data);
    expect(failed).toMatchObject({ state: 'failed', reason: 'result_invalid', stepCount: 2 });
    expect(failed.errorMessage).toContain(issue);
    const [, repair] = requestsWith(service, routine.mark);
    expect(repair.body.messages.at(-1).content).toContain(issue);
    expect(await routine.run(data, prices({ tea: 3 }))).toMatchObject({
      state: 'succeeded',
      data: prices({ tea: 3 }),
    });
  },
);

test('a run at the last of its steps is not asked again', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key, { limits: { maxSteps: 1 } });
  expect(await run('No.')).toMatchObject({ reason: 'result_invalid', stepCount: 1 });
});

test('a run that has repaired its result may use tools before it, and is asked once all the same', async ({
  service,
  key,
}) => {
  const { id, mark } = await typedRoutine(service, key);
  const { control } = service.gateway;
  control.script({ marker: mark, behaviour: { kind: 'text', text: 'No.' } });
  control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls: [{ name: 'none' }] } });
  control.script({ marker: mark, behaviour: { kind: 'text', text: 'No.' } });
  expect(await runOnce(key, id)).toMatchObject({ reason: 'result_invalid', stepCount: 3 });
});

test('data comes back as it was, with any names of members', async ({ service, key }) => {
  const { run } = await typedRoutine(service, key, { resultSchema: {}, resultKey: null });
  const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"zero":"a\\u0000b"}';
  const { data } = await run(text);
  expect(JSON.stringify(data)).toContain('"__proto__":{"polluted":true}');
  expect(data.zero).toBe('a\uFFFDb');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect(await run('null')).toMatchObject({ state: 'succeeded', data: null });
});

test.for<[string, Record<string, unknown>, string]>([
  ['of more than 64 kB', { resultSchema: { title: 'x'.repeat(65_536) } }, 'resultSchema: more'],
  ['that is none', { resultSchema: { type: 'thing' } }, 'resultSchema: not a usable JSON Schema'],
  [
    'that refers elsewhere',
    { resultSchema: { $ref: 'https://example.com/schema' } },
    'resultSchema: not a usable JSON Schema',
  ],
  [
    'with a pattern that could take for ever',
    { resultSchema: { pattern: '^(?=a)' } },
    'resultSchema: not a usable JSON Schema (the pattern',
  ],
  ['that is a list', { resultSchema: [] }, 'resultSchema: '],
  ['that is missing, with a key', { resultKey: { list: '', key: '' } }, 'resultKey: '],
  [
    'with a key that is no pointer',
    { resultSchema: {}, resultKey: { list: 'items', key: '/id' } },
    'resultKey.list: a JSON Pointer',
  ],
  ['that is missing, where changes are delivered', { deliver: 'changed' }, 'deliver: '],
  ['and a policy that is none', { deliver: 'never' }, 'deliver: '],
])('a schema %s is 400 with its path', async ([, fields, message], { key }) => {
  const refused = await key.post('/v1/routines', routineBody(fields));
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  expect(refused.body.error.message).toContain(message);
});

test.runIf(FULL_SIZE)('a schema whose checks would never end fails only its run', async ({ service, key }) => {
  const slow = await typedRoutine(service, key, {
    resultSchema: slowSchema('a'),
    resultKey: null,
    limits: { maxSteps: 1 },
  });
  const failed = await slow.run({ a: 'x' });
  expect(failed).toMatchObject({ state: 'failed', reason: 'result_invalid' });
  expect(failed.errorMessage).toContain('could not be checked');
});

test.for<[string, Record<string, unknown>, string]>([
  [
    'that nothing can satisfy',
    { resultSchema: { required: ['a'], properties: { a: false } }, resultKey: null },
    'boolean schema is false',
  ],
  [
    'that is its own part',
    { resultSchema: { allOf: [{ $ref: '#' }] }, resultKey: null },
    'refers to itself without end',
  ],
  [
    'whose data has no such key',
    { resultSchema: { properties: { items: false } }, resultKey: { list: '/items', key: '/id' } },
    'list',
  ],
])('a schema %s is taken, and no run proves it', async ([, fields, message], { service, key }) => {
  const { id, run } = await typedRoutine(service, key, fields);
  const failed = await run({ a: 1 }, { a: 1 });
  expect(failed).toMatchObject({ state: 'failed', reason: 'result_invalid' });
  expect(failed.errorMessage).toContain(message);
  expect((await key.post(`/v1/routines/${id}/activate`)).body.error.code).toBe('successful_run_required');
});

test('the text of a schema counts towards the text of a run', async ({ key }) => {
  const fields = {
    instructions: '{{a}}'.repeat(39),
    variables: { a: 'x'.repeat(10_000) },
    resultSchema: { title: 'x'.repeat(10_000) },
  };
  const refused = await key.post('/v1/routines', routineBody(fields));
  expect(refused.body.error.message).toMatch(/^skills: .* at most 400000 are allowed/);
});

test('deliver needs the schema as long as it compares', async ({ key }) => {
  const id = await createRoutine(key, { ...FORM, deliver: 'changed' });
  const refused = await key.patch(`/v1/routines/${id}`, { resultSchema: null, resultKey: null });
  expect(refused.body.error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('deliver: '),
  });
});

test('the placeholders contain the data of the previous run and its changes, fenced', async ({ service, key }) => {
  const instructions = 'Data [{{previous.data}}] and changes [{{ previous.changes }}].';
  const { run } = await typedRoutine(service, key, { instructions });
  expect((await run(prices({ tea: 3 }))).prompt).toContain('Data [] and changes [].');
  await run(prices({ tea: 3, salt: 1 }));
  // A failed run has no data, so the placeholders keep the data of the run before it.
  await run('No.', 'No.');
  const { prompt } = await run(prices({ tea: 3 }));
  const fenced = [...prompt.matchAll(/<([\w-]{12})>\n(.*)\n<\/\1>/g)].map(([, , json]) => JSON.parse(json));
  expect(fenced).toEqual([
    prices({ tea: 3, salt: 1 }),
    {
      counts: { added: 1, removed: 0, changed: 0 },
      added: [{ id: 'salt', price: 1 }],
      removed: [],
      changed: [],
      truncated: false,
    },
  ]);
});

test('the placeholders hold nothing of a backfill, which is of another time', async ({ service, key }) => {
  const instructions = 'Data [{{previous.data}}].';
  const { run } = await typedRoutine(service, key, { instructions });
  await run(prices({ tea: 3 }));
  const past = await run(prices({ tea: 1 }));
  await changeRuns(service.deps.database, past.id, { trigger: 'backfill' });
  const { prompt } = await run(prices({ tea: 3 }));
  expect(prompt).toContain(JSON.stringify(prices({ tea: 3 })));
  expect(prompt).not.toContain(JSON.stringify(prices({ tea: 1 })));
});
