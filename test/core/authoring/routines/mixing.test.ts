import { expect, test as plain } from 'vitest';
import { mixingIn } from '#core/authoring/routines/index.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { confirm, connect, policyPath, type Json } from '#test/core/integrations/tools/support.ts';

const test = serviceTest();

const ISSUES = { toolName: 'search_issues', hints: { readOnly: true, openWorld: true } };
const POST = { toolName: 'post_message', hints: { readOnly: false } };

function mixing(
  [here, there]: [object, object],
  connections: [string, string] = ['a', 'b'],
  routine: object = {},
): string | undefined {
  const tools = [here, there].map((tool, index) => ({
    policyId: `pol_${index}`,
    connectionId: connections[index],
    connectionName: `Connection ${connections[index]}`,
    ...tool,
  }));
  return mixingIn({ gate: null, instructions: '', ...routine }, tools as never);
}

plain('a tool that reads what strangers write beside one that acts elsewhere is told of', () => {
  expect(mixing([ISSUES, POST])).toMatch(
    /^Its runs read .* \("search_issues" of Connection a\), .* \("post_message" of Connection b\)\./,
  );
});

plain.each<[string, object]>([
  ['says nothing of the world, and has a name of it', { readOnly: true }],
  ['says nothing at all, and has a name of reading', {}],
])('a tool that %s counts as reading', (_, hints) => {
  expect(mixing([{ toolName: 'list_comments', hints }, POST])).toBeDefined();
});

plain.each<[string, [object, object], [string, string]?]>([
  ['both are of one connection', [ISSUES, POST], ['a', 'a']],
  ['the other one only reads too', [ISSUES, ISSUES]],
  ['neither reads', [POST, POST]],
  ['what is read is a closed world', [{ ...ISSUES, hints: { readOnly: true, openWorld: false } }, POST]],
  ['what is read is no text of strangers', [{ toolName: 'run_report', hints: { readOnly: true } }, POST]],
  [
    'the other one only adds in a closed world',
    [ISSUES, { toolName: 'remember', hints: { readOnly: false, openWorld: false, destructive: false } }],
  ],
  ['nothing is said of the other one, and its name is one of reading', [ISSUES, { toolName: 'getPage', hints: {} }]],
])('nothing is said where %s', (_, tools, connections) => {
  expect(mixing(tools, connections)).toBeUndefined();
});

plain('the value of a gate counts where it stands in the instructions', () => {
  const gate = { tool: null, url: 'https://shop.example/feed?key=secret' };
  const told = (instructions: string) => mixing([POST, POST], ['a', 'a'], { gate, instructions });
  expect(told('Report {{gate.value}}.')).toContain('(its gate at shop.example)');
  expect(told('Report.')).toBeUndefined();
});

test('the warning stands at the policy before it is confirmed, and at the routine once it is', async ({ key }) => {
  const hostile = await startHostileTools();
  try {
    hostile.control.tools = [
      { name: 'search_issues', annotations: { readOnlyHint: true } },
      { name: 'post_message', annotations: { readOnlyHint: false } },
    ].map((tool) => ({ ...tool, inputSchema: { type: 'object' } }));
    const routineId = await createRoutine(key);
    const discover = async (name: string) => {
      const connectionId = await connect(key, { url: hostile.url('honest'), name });
      const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
      return { routineId, connectionId, tools: (await key.post(path)).data.tools as Json[] };
    };
    const [reading, acting] = [await discover('Tracker'), await discover('Chat')];
    await confirm(key, reading, ['search_issues']);
    expect((await key.get(`/v1/routines/${routineId}`)).data.warnings).toEqual([]);

    const { data: listed } = await key.get(`/v1/routines/${routineId}/tools`);
    const post = listed.find(
      (policy: Json) => policy.name === 'post_message' && policy.connectionId === acting.connectionId,
    );
    const mixes = {
      code: 'mixes_untrusted_and_outward',
      message: expect.stringMatching(/"search_issues" of Tracker.*"post_message"/),
    };
    expect(post.warnings).toEqual([mixes]);
    expect(listed.filter(({ warnings }: Json) => warnings.length > 0)).toHaveLength(1);
    const body = { confirmAutomaticExecution: true, definitionHash: post.definitionHash };
    expect((await key.patch(policyPath(routineId, post), body)).data.warnings).toEqual([mixes]);
    const renamed = await key.patch(`/v1/routines/${routineId}`, { name: 'Other' });
    expect(renamed.data.warnings).toEqual([mixes]);
    expect((await key.get(`/v1/routines/${routineId}`)).data.warnings).toEqual([mixes]);
  } finally {
    await hostile.stop();
  }
});

test('a confirmation that names no definition is accepted, and answered with a warning', async ({ key }) => {
  const hostile = await startHostileTools();
  try {
    const routineId = await createRoutine(key);
    const connectionId = await connect(key, { url: hostile.url('honest') });
    const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
    const [tool] = (await key.post(path)).data.tools;
    const patch = async (more: object) => {
      const body = { confirmAutomaticExecution: true, ...more };
      const { status, data } = await key.patch(policyPath(routineId, tool), body);
      return [status, data.state, data.warnings];
    };
    const { definitionHash } = tool;
    expect(await patch({ definitionHash })).toEqual([200, 'automatic', []]);
    const message = expect.stringContaining('named no definitionHash');
    const warning = { code: 'definition_hash_missing', message };
    expect(await patch({})).toEqual([200, 'automatic', [warning]]);
  } finally {
    await hostile.stop();
  }
});
