import { expect, test } from 'vitest';
import type { ToolDefinition } from '#core/clients/mcp/index.ts';
import { judgeCall, type WantedCall } from '#core/integrations/tools/judge-call.ts';
import { definitionHash } from '#core/integrations/tools/policy.ts';
import type { ToolTarget } from '#core/integrations/tools/queries.ts';

const BEFORE = new Date('2026-01-01T00:00:00.000Z');
const START = new Date('2026-01-01T01:00:00.000Z');
const AFTER = new Date('2026-01-01T02:00:00.000Z');

const DEFINITION: ToolDefinition = {
  name: 'send',
  title: null,
  description: 'Sends.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  outputSchema: null,
  annotations: null,
};
const HASH = definitionHash(DEFINITION);

interface Changes {
  readonly wanted?: Partial<WantedCall>;
  readonly policy?: Partial<ToolTarget['policy']>;
  readonly connection?: Partial<ToolTarget['connection']>;
  /** Null if the server no longer has the tool. */
  readonly live?: ToolDefinition | null;
}

async function decided({ wanted, policy, connection, live = DEFINITION }: Changes) {
  const target = {
    policy: {
      ...DEFINITION,
      state: 'automatic',
      definitionHash: HASH,
      confirmedHash: HASH,
      confirmedAt: BEFORE,
      maxCallsPerRun: 2,
      argumentSchema: { properties: { to: { enum: ['a', 'b'] } } },
      ...policy,
    },
    connection: { state: 'ready', ...connection },
  } as ToolTarget;
  const asked: ToolTarget[] = [];
  const decision = await judgeCall(
    {
      target,
      input: { to: 'a' },
      runStartedAt: START,
      earlierCalls: 1,
      maybeSent: false,
      ...wanted,
    },
    async (found) => {
      asked.push(found);
      return live === null ? undefined : { hash: definitionHash(live) };
    },
  );
  return { ...decision, asked: asked.length };
}

test('a call that keeps to what was confirmed may be made', async () => {
  expect(await decided({})).toMatchObject({ kind: 'allowed', args: { to: 'a' }, asked: 1 });
});

const REPEATABLE = { annotations: { readOnlyHint: true } };

test.each<[string, Changes, string]>([
  ['a policy that is gone', { wanted: { target: undefined } }, 'not_automatic'],
  ['a disabled policy', { policy: { state: 'disabled' } }, 'not_automatic'],
  ['a policy confirmed during the run', { policy: { confirmedAt: AFTER } }, 'not_automatic'],
  ['one call too many', { wanted: { earlierCalls: 2 } }, 'call_limit_reached'],
  ['arguments that are a list', { wanted: { input: [] } }, 'arguments_no_object'],
  ['a connection without a sign-in', { connection: { state: 'needs_reauthorization' } }, 'connection_not_ready'],
  ['arguments of another type', { wanted: { input: { to: 1 } } }, 'arguments_invalid'],
  ['arguments outside of the policy', { wanted: { input: { to: 'c' } } }, 'arguments_not_confirmed'],
  [
    'an input schema that is none',
    { policy: { inputSchema: { properties: { to: { pattern: '(' } } } } },
    'arguments_uncheckable',
  ],
  [
    'an output schema that is none',
    { policy: { outputSchema: { properties: { to: { pattern: '(' } } } } },
    'result_uncheckable',
  ],
])('%s is refused before the server is asked', async (_case, changes, reason) => {
  expect(await decided(changes)).toMatchObject({ kind: 'refused', reason, asked: 0 });
});

test.each<[string, Changes, string]>([
  ['vanished', { live: null }, 'tool_vanished'],
  ['changed', { live: { ...DEFINITION, description: 'Sends it all.' } }, 'tool_changed'],
])('a tool that has %s is refused', async (_case, changes, reason) => {
  expect(await decided(changes)).toMatchObject({ kind: 'refused', reason, asked: 1 });
});

test('a call that may have been sent is made again only where that does no harm', async () => {
  const maybeSent = { maybeSent: true };
  expect(await decided({ wanted: maybeSent })).toEqual({ kind: 'maybe_sent', asked: 0 });
  expect(await decided({ wanted: { ...maybeSent, target: undefined } })).toMatchObject({
    kind: 'maybe_sent',
  });
  expect(await decided({ wanted: maybeSent, policy: REPEATABLE })).toMatchObject({
    kind: 'allowed',
  });
});

test('a limit and a schema are named in the words of a refusal', async () => {
  const limited = await decided({ wanted: { earlierCalls: 2 } });
  expect(limited).toMatchObject({ why: 'this tool may be called 2 times in a run' });
  const unfit = await decided({ wanted: { input: {} } });
  expect(unfit).toMatchObject({
    why: expect.stringMatching(/^the arguments do not fit the tool: .*to/),
  });
});
