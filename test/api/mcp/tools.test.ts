import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readToolsets, visibleTools } from '#api/mcp/tools.ts';
import { HELP } from '#api/mcp/words.ts';
import { ownErrorsOf } from '#api/docs/responses.ts';
import { routes } from '#api/routes.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { RUN_STATES } from '#core/execution/run-states/index.ts';

const all = visibleTools(SCOPES, readToolsets('all'));
const offered = visibleTools(SCOPES, readToolsets(undefined));

function fieldsOf(schema: z.ZodType | undefined): string[] {
  const sent = schema instanceof z.ZodPipe ? schema.def.in : schema;
  return sent instanceof z.ZodObject ? Object.keys(sent.shape) : [];
}

/** Lists the fields at any depth of a schema. */
function deepFields(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties') for (const field of Object.keys(value)) found.add(field);
    deepFields(value, found);
  }
  return found;
}

test('the list that a client gets unasked costs a model at most 6,000 tokens', () => {
  const list = JSON.stringify(offered.map(({ definition }) => definition));
  expect(offered.length).toBeGreaterThanOrEqual(18);
  expect(offered.length).toBeLessThanOrEqual(26);
  // With o200k_base a token has 4.2 characters of this list on average; the test counts three.
  expect(list.length / 3).toBeLessThanOrEqual(6_000);
});

test('every field that an operation takes is an argument of its tool, in one place', () => {
  for (const { route, definition } of all) {
    if (definition.name === 'wait_for_run') continue;
    const { params, query, body } = route.spec;
    const fields = [params, query, body].flatMap(fieldsOf);
    expect(new Set(fields).size, definition.name).toBe(fields.length);
    const given = Object.keys(Object(definition.inputSchema['properties']));
    // Fields that accept only an empty list are of no use to a model. The other fields are for files or have a single
    // value.
    const unsaid = new Set(['tools', 'toolPolicies', 'managedBy', 'managedFrom', 'acceptForecast', 'projectId']);
    expect(given, definition.name).toStrictEqual(expect.arrayContaining(fields.filter((field) => !unsaid.has(field))));
  }
});

test('the fields that a tool shows are fields of its response', () => {
  for (const { route, tool, definition } of all) {
    const fields = deepFields(z.toJSONSchema(route.spec.success.data, { io: 'input', unrepresentable: 'any' }));
    for (const field of tool.view ?? []) {
      expect([...fields], `${definition.name} ${field}`).toContain(field);
    }
  }
});

test('no tool takes or shows a secret, and none does anything that only people may do', () => {
  const secret = /secret|password|token$|apiKey|credential/i;
  for (const { route, tool, definition } of all) {
    const { success, id } = route.spec;
    const shown = tool.view ?? [...deepFields(z.toJSONSchema(success.data, { io: 'input', unrepresentable: 'any' }))];
    const args = Object.keys(Object(definition.inputSchema['properties']));
    expect(
      [...shown, ...args].filter((name) => secret.test(name)),
      id,
    ).toStrictEqual([]);
  }
  const people = /Policy|Member|Invitation|ApiKey|Billing|Checkout|Session|Organization|Delete|Secret|SignIn/i;
  const writesOfConnections = /^(create|update|delete|connect|revoke)\w*Connection/;
  const names = all.map(({ route }) => route.spec.id);
  expect(names.filter((name) => people.test(name) || writesOfConnections.test(name))).toStrictEqual([]);
});

test('every operation that a key may call has decided whether it is a tool', () => {
  const tools = new Set(all.map(({ route }) => route.spec.id));
  const withKey = routes.filter(({ spec }) => spec.auth === 'key-or-session');
  expect(withKey.length).toBeGreaterThan(tools.size);
  const others = routes.filter(({ spec }) => spec.auth !== 'key-or-session' && tools.has(spec.id));
  expect(others.map(({ spec }) => spec.id)).toStrictEqual([]);
});

test('hints say what a tool does', () => {
  const hints = new Map(all.map(({ definition }) => [definition.name, definition.annotations]));
  // A missing hint has the client's default: the tool writes, and a second call acts again.
  expect(hints.get('read_run')).toStrictEqual({ readOnlyHint: true, openWorldHint: false });
  expect(hints.get('archive_routine')).toStrictEqual({
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  });
  expect(hints.get('run_routine')).toStrictEqual({ destructiveHint: false, openWorldHint: false });
});

test('every argument of every tool is described in words for a model, and none has a list of types', () => {
  const tools = all.map(({ definition }) => definition);
  const created = tools.find(({ name }) => name === 'create_routine');
  const createdFields = new Set(Object.keys(Object(created?.inputSchema['properties'])));
  for (const { name, description, inputSchema } of tools) {
    expect(description, name).not.toMatch(/Prefer:|`Link|\b40\d\b|…/);
    for (const [argument, schema] of Object.entries(Object(inputSchema['properties']))) {
      const { description: words } = Object(schema);
      // These arguments have the meaning that create_routine describes.
      if (name === 'update_routine' && words === undefined && createdFields.has(argument)) continue;
      expect(words, `${name}.${argument}`).toMatch(/^.{3,}[^…:]$/);
      expect(words, `${name}.${argument}`).not.toMatch(/Link:/);
    }
    expect(JSON.stringify(inputSchema), name).not.toMatch(/"type":\[|"type":"array"(?![^{}]*"items")|"items":{}/);
  }
});

test('what acts and what waits promises the state of what came of it, in fields of its response', () => {
  const outputs = new Map(all.map(({ definition }) => [definition.name, definition.outputSchema]));
  const states = { type: 'string', enum: RUN_STATES };
  for (const name of ['run_routine', 'wait_for_run']) {
    expect(outputs.get(name)).toMatchObject({
      properties: { id: { type: 'string' }, state: states, outcome: { type: 'string' }, result: { type: 'string' } },
      required: ['id', 'routineId', 'state'],
    });
  }
  expect(outputs.get('activate_routine')).toMatchObject({ required: ['id', 'state'] });
  expect(outputs.get('list_runs')).toBeUndefined();
});

test('each refusal of a tool says what helps, and each tool that it names is one', () => {
  const names = new Set(all.map(({ definition }) => definition.name));
  const common = ['insufficient_scope', 'plan_write_required', 'rate_limited'] as const;
  const keyed = ['idempotency_in_progress', 'idempotency_key_reused'] as const;
  const codes = new Set(all.flatMap(({ route }) => [...ownErrorsOf(route.spec), ...common, ...keyed]));
  for (const code of codes) {
    const words = HELP[code] ?? '';
    expect(words, code).toMatch(/^.{10,}\.$/);
    for (const [tool] of words.matchAll(/\b[a-z]+_[a-z_]+\b/g)) expect(names, code).toContain(tool);
  }
});

test('the page on assistants lists each tool in its group', () => {
  const page = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');
  for (const { tool, definition } of all) {
    const row = page.split('\n').find((line) => line.startsWith('| ') && line.split('|')[1]?.includes(tool.toolset));
    expect(row, definition.name).toContain(`\`${definition.name}\``);
  }
});
