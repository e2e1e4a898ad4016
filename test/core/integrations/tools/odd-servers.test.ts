import { afterAll, beforeAll, expect, test } from 'vitest';
import { ODD_CASES } from '#dev/fakes/odd-tool-server/cases.ts';
import type { OddCase } from '#dev/fakes/odd-tool-server/odd-case.ts';
import { startOddToolServer, type OddToolServer } from '#dev/fakes/odd-tool-server/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE, oneOfEach } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { connect, marker, policyPath, requestsWith, scriptCalls, toolSteps, type Json } from './support.ts';

const QUICK = ODD_CASES.filter(({ delayMs }) => FULL_SIZE || delayMs === undefined);

/**
 * On each change, only one case of each outcome is tested; `odd-lists.test.ts` tests all cases with the client alone.
 */
const CASES = oneOfEach(QUICK, ({ must: { steps, acts, refused, warns } }) => [
  steps,
  acts,
  refused === undefined,
  warns === undefined,
]);

let service: Service;
let odd: OddToolServer;

beforeAll(async () => {
  [service, odd] = await Promise.all([sharedService({ worker: true }), startOddToolServer(CASES)]);
});
afterAll(async () => {
  await odd?.stop();
});

/** The caller's project, which may have a limited number of connections. */
let client: ApiClient;
let connections = 0;

async function clientForOneMore(): Promise<ApiClient> {
  if (connections % 50 === 0) client = await (await signUp(service)).key();
  connections += 1;
  return client;
}

test.concurrent.for(CASES)('$name: the server is connected, discovered, confirmed and called', async (each) => {
  const { must } = each;
  const key = await clientForOneMore();
  const mark = marker();
  const connectionId = await connect(key, { url: odd.url(each) });
  const routineId = await createRoutine(key, { instructions: mark });
  const found = await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  if (must.refused !== undefined) {
    expect([found.status, found.body.error.message]).toEqual([502, expect.stringContaining(must.refused)]);
    return;
  }
  expectDiscovered(found.data, each);

  for (const tool of found.data.tools) {
    const confirmed = await key.patch(policyPath(routineId, tool), { confirmAutomaticExecution: true });
    expect([confirmed.status, confirmed.body.error]).toEqual([200, undefined]);
    if (must.warns !== undefined && tool.name === 'read_page') {
      const message = expect.stringContaining(must.warns);
      expect(confirmed.data.warnings).toContainEqual({ code: 'schema_left_out', message });
    }
  }

  const calls = each.calls ?? ['read_page', 'place_order'];
  scriptCalls(service, mark, ...calls.map((name) => ({ name, arguments: {} })));
  const run = await runOnce(key, routineId);
  expect(run.state).toBe('succeeded');
  expect(toolSteps(run).map(({ state }) => state)).toEqual(must.steps ?? calls.map(() => 'succeeded'));
  expect(odd.acts(each)).toHaveLength(must.acts ?? calls.length);
  const told = requestsWith(service, mark).at(-1).body.messages.at(-1).content;
  expect(told).toContain(must.told ?? '');
  const { data: connection } = await key.get(`/v1/connections/${connectionId}`);
  expect(connection.state).toBe('ready');
});

function expectDiscovered(discovery: Json, { must }: OddCase): void {
  const named = (tools: Json[]) => tools.map(({ name, field }) => [name, field]);
  expect({
    tools: discovery.tools.map(({ name }: Json) => name),
    skipped: named(discovery.skippedTools),
    dropped: named(discovery.droppedFields),
    truncated: discovery.truncated,
    circular: discovery.circular,
  }).toEqual({
    tools: ['read_page', 'place_order', ...(must.lists ?? [])],
    skipped: must.skips ?? [],
    dropped: must.drops ?? [],
    truncated: must.truncated ?? false,
    circular: must.circular ?? false,
  });
}
