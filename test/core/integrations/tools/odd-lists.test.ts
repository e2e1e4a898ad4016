import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  fixedCredentials,
  listAllTools,
  openToolSession,
  ToolServerError,
  type ListedTools,
} from '#core/clients/mcp/index.ts';
import { readResult } from '#core/integrations/tools/tool-result.ts';
import { ODD_CASES } from '#dev/fakes/odd-tool-server/cases.ts';
import type { OddCase } from '#dev/fakes/odd-tool-server/odd-case.ts';
import { startOddToolServer, type OddToolServer } from '#dev/fakes/odd-tool-server/server.ts';
import { localClient } from '#test/lib/outbound/receiver.ts';

let odd: OddToolServer;
beforeAll(async () => {
  odd = await startOddToolServer(ODD_CASES);
});
afterAll(() => odd.stop());

test('the table has a name of its own for each of at least 50 cases', () => {
  const names = ODD_CASES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(50);
});

const LIMITS = { signal: new AbortController().signal, timeoutMs: 60_000 };

function openAt(each: OddCase) {
  const target = { url: odd.url(each), credentials: fixedCredentials({}) };
  return openToolSession({ outbound: localClient() }, target, LIMITS);
}

/** Cases without sessions. A lost session needs a client that begins another one. */
const WITHOUT_SESSIONS = ODD_CASES.filter(({ sessions }) => sessions === undefined);

test.concurrent.for(WITHOUT_SESSIONS)('$name: its tools are listed', async (each) => {
  const { must } = each;
  const listing = openAt(each).then((session) => listAllTools(session, LIMITS).finally(() => session.close()));
  const found = await listing.catch((error: unknown) => error);
  if (found instanceof ToolServerError) {
    expect(found.message).toContain(must.refused ?? 'no refusal');
    return;
  }
  const { tools, skipped, dropped, truncated, circular } = found as ListedTools;
  const named = (list: ListedTools['skipped']) => list.map(({ tool, field }) => [tool, field]);
  expect({
    tools: tools.map(({ name }) => name),
    skipped: named(skipped),
    dropped: named(dropped),
    truncated,
    circular,
  }).toEqual({
    tools: ['read_page', 'place_order', ...(must.lists ?? [])],
    skipped: must.skips ?? [],
    dropped: must.drops ?? [],
    truncated: must.truncated ?? false,
    circular: must.circular ?? false,
  });
});

const ANSWERED = WITHOUT_SESSIONS.filter(({ must: { refused, steps } }) => (refused ?? steps) === undefined);

test.concurrent.for(ANSWERED)('$name: its results are read, and no call is made twice', async (each) => {
  const session = await openAt(each);
  const { tools } = await listAllTools(session, LIMITS);
  const calls = each.calls ?? ['read_page', 'place_order'];
  let told = '';
  for (const called of calls) {
    const definition = tools.find(({ name }) => name === called)!;
    told = readResult(await session.callTool(definition, {}, LIMITS), []).text;
  }
  await session.close();
  expect(odd.acts(each)).toHaveLength(each.must.acts ?? calls.length);
  expect(told).toContain(each.must.told ?? '');
});
