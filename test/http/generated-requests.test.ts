import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorsOf } from '#api/docs/responses.ts';
import { routes } from '#api/routes.ts';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { generatedRequest, type GeneratedRequest, type KnownIds } from './generate.ts';

/** Batches sent at once, so that requests also meet one another. */
const BATCH = 20;
const BATCHES = 200;

let service: Service;
let callers: ApiClient[];
let known: KnownIds;

beforeAll(async () => {
  service = await startService({ env: { DATABASE_POOL_SIZE: '5' } });
  const ada = await signUp(service);
  const bob = await signUp(service);
  const key = await ada.key();
  // Enough that some are left to run when others have been archived.
  const routineIds = await Promise.all(Array.from({ length: 40 }, () => createRoutine(key)));
  const foreign = await createRoutine(await bob.key());
  const skill = await key.post('/v1/skills', { name: 'x', instructions: 'x'.repeat(20) });
  const run = await key.post(`/v1/routines/${routineIds[0]}/run`);
  const spare = await ada.session.post('/v1/api-keys', { name: 'to be revoked' });
  known = {
    routineId: [...routineIds, foreign],
    runId: [run.data.id],
    skillId: [skill.data.id, 'seo-audit'],
    apiKeyId: [spare.data.id],
    organizationId: [ada.organizationId, bob.organizationId],
  };
  callers = [key, ada.session, await bob.key(), bob.session, service.anonymous];
});
afterAll(() => service.close());

test(`${BATCH * BATCHES} generated requests get the exact envelope, a documented error or success, and never a 500`, async () => {
  const seen = new Set<number>();
  const batch = fc.array(generatedRequest(known, callers.length), {
    minLength: BATCH,
    maxLength: BATCH,
  });
  await fc.assert(
    fc.asyncProperty(batch, async (requests) => {
      const statuses = await Promise.all(requests.map((request) => check(request)));
      for (const status of statuses) seen.add(status);
    }),
    { numRuns: BATCHES, endOnFailure: true },
  );
  // The requests are worth something only when they also get past the first check.
  for (const status of [200, 201, 202, 400, 401, 403, 404, 406, 415]) {
    expect([status, seen.has(status)]).toEqual([status, true]);
  }
}, 120_000);

async function check(request: GeneratedRequest): Promise<number> {
  const { operation, method, path, headers, caller, body } = request;
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...callers[caller]!.headers,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const { spec } = routes.find((route) => route.spec.id === operation)!;
  const shown = `${method} ${path} ${JSON.stringify(headers)} caller ${caller}: ${body?.slice(0, 2_000)}`;
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return response.status;
  }
  const text = await response.text();
  const answer = JSON.parse(text);
  if (response.ok) {
    expect(Object.keys(answer), shown).toEqual(['data', 'requestId']);
    expect([200, 201, 202], shown).toContain(response.status);
  } else {
    const code: ErrorCode = answer.error.code;
    expect(answer, shown).toEqual({
      error: { code, message: expect.any(String) },
      requestId: response.headers.get('x-request-id'),
    });
    expect(response.status, shown).toBe(ERRORS[code][0]);
    // A mutated parameter may make it a path of no operation, or of another one.
    if (code !== 'route_not_found' && code !== 'method_not_allowed') {
      expect(errorsOf(spec), shown).toContain(code);
    }
    // A connection to a third party may fail there; nothing of ours may.
    if (response.status >= 500) expect(code, `${shown}\n${text}`).toBe('provider_error');
  }
  return response.status;
}
