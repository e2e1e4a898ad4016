import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { ODD_CASES, type OddCase } from '#dev/fakes/odd-gateway/index.ts';
import { closeAtOnce } from '#lib/listen.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { oneOfEach } from '#test/support/properties.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { marker, type Json } from '#test/core/integrations/tools/support.ts';

/**
 * On each change, only one case of each ending is tested; `odd-responses.test.ts` tests all cases with the caller
 * alone.
 */
const CASES = oneOfEach(ODD_CASES, ({ expected: { state, reason } }) => [state, reason]);

// Reported behaviour of model servers, each in a run of its own: over HTTP, through worker and gateway to the webhook.
// The runs go side by side, because most of them wait for their next attempt.
const test = serviceTest({ worker: true, own: true })
  // oxlint-disable-next-line eslint/no-empty-pattern -- the test runner reads from the pattern what a fixture needs
  .extend('told', { scope: 'file' }, ({}, { onCleanup }) => startInbox(onCleanup))
  .extend('met', { scope: 'file' }, async ({ service, key, told }) => {
    // The first response proves that this model gives finish reasons.
    await runOnce(key, await createRoutine(key));
    const ids = await Promise.all(CASES.map((odd, index) => start(odd, { service, key, url: told.urlOf(index) })));
    const runs = new Map<string, Promise<Json>>();
    for (const [index, { name }] of CASES.entries()) runs.set(name, runEnded(key, ids[index] ?? ''));
    return async (name: string): Promise<Json> => runs.get(name);
  });

/** Receives webhooks, and returns the types of the events that reached an address. */
async function startInbox(onCleanup: (close: () => Promise<void>) => void) {
  const types = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { type } = JSON.parse(Buffer.concat(parts).toString()) as { type: string };
    const path = request.url ?? '';
    types.set(path, [...(types.get(path) ?? []), type]);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => closeAtOnce(server));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (index: number) => `http://127.0.0.1:${port}/${index}`,
    typesAt: (index: number) => types.get(`/${index}`) ?? [],
  };
}

async function start(
  { answers, tools, modelId = 'fixture/writer-small' }: OddCase,
  { service, key, url }: { service: Service; key: ApiClient; url: string },
): Promise<string> {
  const mark = marker();
  const id = await createRoutine(key, {
    instructions: `Report. ${mark}`,
    webhookUrl: url,
    model: { provider: 'gateway', connectionId: null, modelId },
    ...(tools === true ? { builtInTools: ['calculate'] } : {}),
  });
  for (const [index, answer] of answers.entries()) {
    const times = index === answers.length - 1 ? null : 1;
    service.gateway.control.script({ marker: mark, times, behaviour: { kind: 'raw', ...answer } });
  }
  const { data } = await key.post(`/v1/routines/${id}/run`);
  return data.id;
}

test.for(CASES.map((odd, index) => ({ ...odd, index })))('$name', async ({ name, index, expected }, { met, told }) => {
  const run = await met(name);
  const steps: Json[] = run.steps;
  const last = steps.findLast(({ kind }) => kind === 'model');
  expect({ ...run, attempts: last?.attempt }).toMatchObject({
    state: expected.state,
    reason: expected.reason ?? null,
    attempts: expected.attempts,
    ...('result' in expected ? { result: expected.result } : {}),
    ...('failureClass' in expected ? { failureClass: expected.failureClass } : {}),
  });
  if (expected.message !== undefined) expect(run.errorMessage).toBe(expected.message);
  if (expected.words !== undefined) expect(run.errorMessage).toContain(expected.words);
  if ('finish' in expected) expect(last.finishReason).toBe(expected.finish);
  if (expected.thinking !== undefined) expect(steps[0].thinking).toBe(expected.thinking);
  const calls = steps.filter(({ kind }) => kind === 'tool').map(({ tool }) => JSON.parse(tool.arguments));
  if (expected.calls !== undefined) expect(calls).toEqual(expected.calls);
  const warnings = steps.flatMap((each) => each.warnings.map(({ code }: Json) => code));
  expect(warnings).toEqual(expected.warnings ?? []);
  await expect.poll(() => told.typesAt(index)).toEqual([`run.${expected.state}`]);
});
