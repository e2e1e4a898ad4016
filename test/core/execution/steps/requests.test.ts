import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { FORM, prices } from '#test/core/execution/results/world.ts';
import { marker, requestsWith, type Json } from '#test/core/integrations/tools/support.ts';

// The requests of a run to its model's server, and the effects of the responses.
const test = serviceTest({ worker: true, own: true });

/** The fixture's list says that this model accepts schemas. */
const STRUCTURED = {
  model: { provider: 'gateway', connectionId: null, modelId: 'fixture/analyst' },
};

const CALCULATE = { builtInTools: ['calculate'] };
const CALL = { name: 'calculate', arguments: { operation: 'sum', values: [1, 2] } };

/** A person whose organization has learned nothing yet. */
const newcomers = test.extend('newcomer', ({ service }) => signUp(service));

/** Runs a routine whose model has these behaviours in turn; returns the run and the bodies of its requests. */
const runs = newcomers.extend('meeting', async ({ service, newcomer }) => {
  const key = await newcomer.key();
  return async (fields: Record<string, unknown> & { readonly instructions?: string }, ...behaviours: object[]) => {
    const mark = marker();
    const { instructions: text = 'Report.', ...others } = fields;
    const id = await createRoutine(key, { ...others, instructions: `${text} ${mark}` });
    for (const behaviour of behaviours) {
      service.gateway.control.script({ marker: mark, behaviour } as never);
    }
    const run = await runOnce(key, id);
    return { run, bodies: requestsWith(service, mark).map(({ body }): Json => body) };
  };
});

function roles({ messages }: Json): string[] {
  return messages.map(({ role }: Json) => role);
}

runs('a run opens with one message of the user, its prompt first and its briefing last', async ({ meeting }) => {
  const { run, bodies } = await meeting({});
  const [{ messages, ...rest }] = bodies;
  expect(messages.map(({ role }: Json) => role)).toEqual(['system', 'user']);
  expect(messages[1].content).toMatch(/^Report\. marker-\w+\n\nAbout this run:/);
  expect(messages[1].content).toBe(`${run.prompt}\n\n${run.briefing}`);
  expect(rest).toEqual({
    model: 'fixture/writer-small',
    stream: true,
    stream_options: { include_usage: true },
  });
});

runs('roles alternate when an outcome is asked for, and when a result is asked for again', async ({ meeting }) => {
  const outcome = await meeting({ outcome: 'required' }, { kind: 'text', text: 'Done.' });
  expect(outcome.run.state).toBe('succeeded');
  expect(outcome.bodies.map(roles)).toEqual([
    ['system', 'user'],
    ['system', 'user', 'assistant', 'user'],
  ]);
  const typed = await meeting({ ...FORM, ...STRUCTURED }, { kind: 'text', text: 'No JSON.' });
  expect(typed.bodies.map(roles)).toEqual([
    ['system', 'user'],
    ['system', 'user', 'assistant', 'user'],
  ]);
});

runs('a typed result is asked for by schema where no tool is on offer', async ({ meeting }) => {
  const { bodies } = await meeting(
    { ...FORM, ...STRUCTURED },
    {
      kind: 'text',
      text: JSON.stringify(prices({ tea: 3 })),
    },
  );
  expect(bodies[0].response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: 'result', strict: false, schema: FORM.resultSchema },
  });
  expect(bodies[0].tools).toBeUndefined();
});

runs('beside tools it is the argument of finish, and no schema goes along', async ({ meeting }) => {
  const data = prices({ tea: 3 });
  const finish = { kind: 'tool-calls', calls: [{ name: 'finish', arguments: { result: data } }] };
  const { run, bodies } = await meeting({ ...FORM, ...CALCULATE }, { kind: 'tool-calls', calls: [CALL] }, finish);
  expect(run).toMatchObject({ state: 'succeeded', data, outcome: 'done' });
  expect(JSON.parse(run.result)).toEqual(data);
  for (const body of bodies) expect(body.response_format).toBeUndefined();
  const offered = bodies[0].tools.find((each: Json) => each.function.name === 'finish');
  expect(offered.function.parameters).toEqual({
    type: 'object',
    properties: { result: FORM.resultSchema },
    required: ['result'],
    additionalProperties: false,
  });
  expect(run.briefing).toContain('- How to end: call finish once, by itself, with the result');
});

runs('references within the schema are kept right inside finish', async ({ meeting }) => {
  const resultSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
    $defs: { item: { type: 'object', properties: { id: { type: 'string' } } } },
  };
  const { bodies } = await meeting({ resultSchema, ...CALCULATE }, { kind: 'text', text: '{"items":[]}' });
  const offered = bodies[0].tools.find((each: Json) => each.function.name === 'finish');
  const { result } = offered.function.parameters.properties;
  expect(result.properties.items.items.$ref).toBe('#/properties/result/$defs/item');
  expect(JSON.stringify(bodies[0].tools)).not.toContain('$schema');
});

runs(
  'a result in finish that has not the form is asked for again, in the response to the call',
  async ({ meeting }) => {
    const finish = (result: unknown) => ({
      kind: 'tool-calls',
      calls: [{ name: 'finish', arguments: { result } }],
    });
    const { run, bodies } = await meeting(
      { ...FORM, ...CALCULATE },
      finish({ items: 'none' }),
      finish(JSON.stringify(prices({ tea: 4 }))),
    );
    expect(run).toMatchObject({ state: 'succeeded', data: prices({ tea: 4 }), stepCount: 2 });
    expect(roles(bodies[1])).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(bodies[1].messages[3].content).toMatch(/^That is not the result .*items must be array/);
  },
);

runs('a text that has not the form is repaired with the schema and without tools', async ({ meeting }) => {
  const { run, bodies } = await meeting(
    { ...FORM, ...CALCULATE, ...STRUCTURED },
    { kind: 'text', text: 'No JSON.' },
    { kind: 'text', text: JSON.stringify(prices({ tea: 5 })) },
  );
  expect(run).toMatchObject({ state: 'succeeded', data: prices({ tea: 5 }), stepCount: 2 });
  expect(bodies[0].tools).toHaveLength(2);
  expect(bodies[1]).toMatchObject({ response_format: { type: 'json_schema' } });
  expect(bodies[1].tools).toBeUndefined();
});

runs.for([
  ["Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", 'max_completion_tokens'],
  ['stream_options: Extra inputs are not permitted', undefined],
] as const)(
  'a refusal that says %j leads to the same request without it, at once, and is remembered',
  async ([message, field], { meeting }) => {
    const fields = { limits: { maxOutputTokens: 700 } };
    const refused = { kind: 'error', status: 400, message };
    const { run, bodies } = await meeting(fields, refused);
    expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1, errorMessage: null }] });
    expect(bodies).toHaveLength(2);
    const { bodies: later } = await meeting(fields);
    expect(later).toHaveLength(1);
    const sent = Object.keys(later[0]);
    if (field === undefined) expect(sent).not.toContain('stream_options');
    else {
      expect(later[0][field]).toBe(700);
      expect(sent).not.toContain('max_tokens');
    }
  },
);

runs(
  'a refusal that nothing explains ends the run with the words of the provider, without its key',
  async ({ meeting }) => {
    const message = 'The quota of key test-gateway-key is used up.\u0007 Ask for more.';
    const { run, bodies } = await meeting({}, { kind: 'error', status: 400, message });
    const told = 'The model provider answered 400. It said: The quota of key [redacted] is used up. Ask for more.';
    expect(run).toMatchObject({ state: 'failed', reason: 'model_refused', errorMessage: told });
    expect(run.steps).toMatchObject([{ state: 'failed', errorMessage: told }]);
    expect(bodies).toHaveLength(1);
  },
);

runs('a prompt that is too long for its server ends the run as context_exceeded', async ({ meeting }) => {
  const message = "This model's maximum context length is 8192 tokens, and 10979 were sent.";
  const { run } = await meeting({}, { kind: 'error', status: 400, message });
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'context_exceeded',
    failureClass: 'routine',
  });
  expect(run.errorMessage).toContain(message);
});

runs('a call that was cut at the output limit ends the run, and is not made', async ({ meeting }) => {
  const cut = {
    kind: 'tool-calls',
    calls: [{ name: 'calculate', arguments: '{"operation":"su' }],
    finishReason: 'length',
  };
  const { run } = await meeting(CALCULATE, cut);
  expect(run).toMatchObject({ state: 'failed', reason: 'output_truncated', stepCount: 1 });
});

runs('arguments that are no JSON are refused in words of our own, once, and not quoted again', async ({ meeting }) => {
  const args = `{"operation": oops ${'x'.repeat(2_000)}`;
  const { run, bodies } = await meeting(CALCULATE, {
    kind: 'tool-calls',
    calls: [{ name: 'calculate', arguments: args }],
  });
  expect(run.state).toBe('succeeded');
  const [assistant, refusal] = bodies[1].messages.slice(-2);
  expect(assistant.tool_calls[0].function.arguments).toBe('{}');
  expect(refusal.content).toBe('Refused: the arguments are not valid JSON. The call was not made.');
});

runs('a response that its provider broke off is asked for again, and its usage counts', async ({ meeting }) => {
  const { run } = await meeting({}, { kind: 'text', text: 'Only a part', finishReason: 'error' });
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
  expect(run.result).not.toContain('Only a part');
  const { usage } = run;
  expect(usage.inputTokens).toBeGreaterThan(run.steps[0].usage.outputTokens);
});

runs('thinking in the text is kept out of result and later requests', async ({ meeting }) => {
  const { run, bodies } = await meeting(
    { ...FORM, ...STRUCTURED },
    { kind: 'text', text: '<think>\nSecret thoughts.\n</think>\n\nNo JSON.' },
    { kind: 'text', text: `[THINK]Hm.[/THINK]\n\n${JSON.stringify(prices({ tea: 3 }))}` },
  );
  expect(run).toMatchObject({ state: 'succeeded', data: prices({ tea: 3 }) });
  expect(bodies[1].messages[2]).toEqual({ role: 'assistant', content: 'No JSON.' });
});

runs(
  'thinking that begins in the prompt is kept out where templates of the server write so',
  async ({ meeting, service, newcomer }) => {
    const text = 'Hm.\n</think>\n\nAll is well.';
    const before = await meeting({}, { kind: 'text', text });
    expect(before.run).toMatchObject({ state: 'succeeded', result: text });
    await service.deps.abilities.learn(
      { source: 'gateway', modelId: 'fixture/writer-small' },
      newcomer.organizationId,
      { beginsInThinking: true },
    );
    const { run } = await meeting({}, { kind: 'text', text });
    expect(run).toMatchObject({ state: 'succeeded', result: 'All is well.', steps: [{ thinking: 'Hm.\n' }] });
  },
);

runs('a call that was written as text is pointed out once, and then ends the run', async ({ meeting }) => {
  const text = `<tool_call>${JSON.stringify(CALL)}</tool_call>`;
  const { run, bodies } = await meeting(CALCULATE, { kind: 'text', text }, { kind: 'text', text });
  expect(run).toMatchObject({ state: 'failed', reason: 'model_wrote_call', result: text, stepCount: 2 });
  expect(run.errorMessage).toContain('its call of calculate as text');
  expect(run.steps.map(({ warnings }: Json) => warnings.map(({ code }: Json) => code))).toEqual([
    ['call_as_text'],
    ['call_as_text'],
  ]);
  expect(bodies[1].messages.at(-1)).toMatchObject({
    role: 'user',
    content: expect.stringMatching(/^You wrote a tool call as text/),
  });
});

runs('a prompt that its server seems to have cut is warned of', async ({ meeting }) => {
  const usage = { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 };
  const { run } = await meeting(
    { instructions: `Report. ${'All that was said. '.repeat(400)}` },
    { kind: 'usage', usage },
  );
  expect(run.steps[0].warnings).toMatchObject([
    { code: 'prompt_cut', message: expect.stringMatching(/cut the prompt/) },
  ]);
});
