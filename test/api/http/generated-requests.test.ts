import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorsOf } from '#api/docs/responses.ts';
import { routes } from '#api/routes.ts';
import { ERRORS, type ErrorCode } from '#lib/errors.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { FULL_SIZE, sized, TIMES } from '#test/support/properties.ts';
import { startService, type Service } from '#test/support/service.ts';
import { generatedRequest, rightRequest, type GeneratedRequest, type KnownIds } from './generate.ts';

/** Batches sent at once, so that requests also meet one another. */
const BATCH = 20;
const BATCHES = sized(200);

let service: Service;
let callers: ApiClient[];
let known: KnownIds;

beforeAll(async () => {
  service = await startService({ env: { DATABASE_POOL_SIZE: '5' } });
  const ada = await signUp(service);
  const bob = await signUp(service);
  const key = await ada.key();
  // There are enough routines that some can still run when others are archived.
  const routineIds = await Promise.all(Array.from({ length: 40 }, () => createRoutine(key)));
  const foreign = await createRoutine(await bob.key());
  const skill = await key.post('/v1/skills', { name: 'x', instructions: 'x'.repeat(20) });
  const runs = await Promise.all(routineIds.slice(0, 20).map((id) => key.post(`/v1/routines/${id}/run`)));
  const spare = await ada.session.post('/v1/api-keys', { name: 'to be revoked' });
  known = {
    routineId: [...routineIds, foreign],
    runId: runs.map(({ data }) => data.id),
    skillId: [skill.data.id, 'seo-audit'],
    apiKeyId: [spare.data.id],
    organizationId: [ada.organizationId, bob.organizationId],
    projectId: [ada.projectId, bob.projectId],
    revision: ['1', '2'],
    factsVersion: ['1', '2'],
    instructions: ['Write one line, and nothing else.'],
    // No server listens at this address.
    url: ['http://127.0.0.1:1/'],
  };
  const own = ada.session.with({ 'X-Project-Id': ada.projectId });
  callers = [key, own, await bob.key(), bob.session, service.anonymous];
});
afterAll(() => service.close());

/** Operations whose right request is refused, because they need a sign-in, a server or a run that these tests lack. */
const REFUSED: Partial<Record<ErrorCode, readonly string[]>> = {
  action_not_found: ['approveAction', 'readAction', 'rejectAction'],
  link_not_found: ['deleteSharedLink', 'openSharedLink'],
  question_not_found: ['answerQuestion', 'readQuestion'],
  sharing_disabled: ['createSharedLink'],
  assistant_not_found: ['revokeAssistant'],
  attempt_expired: ['completeConnectionSignIn', 'completeModelSignIn'],
  attempt_not_found: [
    'approveTerminalSignIn',
    'cancelDeviceSignIn',
    'denyAssistantConsent',
    'denyTerminalSignIn',
    'pollDeviceSignIn',
    'readAssistantConsent',
    'readTerminalSignIn',
  ],
  billing_account_missing: ['openBillingPortal'],
  chat_not_found: ['deleteChat', 'readChat', 'testChat', 'updateChat'],
  checkout_disabled: ['startCheckout'],
  ci_trust_not_found: ['deleteCiTrust'],
  confirmation_required: ['deleteOrganization', 'deleteProject'],
  connection_not_found: [
    'deleteConnection',
    'discoverTools',
    'listAccountModels',
    'listConnectionAccounts',
    'readConnection',
    'revokeModelConnection',
    'updateConnection',
  ],
  delivery_not_found: ['redeliverChat', 'redeliverWebhook'],
  invalid_id_token: ['exchangeIdToken'],
  invalid_request: [
    'approveActions',
    'approveAssistantConsent',
    'createChat',
    'createCiTrust',
    'createConnection',
    'createProposal',
    'draftRoutine',
    'markResultsRead',
    'markResultsUnread',
    'previewSchedule',
    'rejectActions',
  ],
  invalid_signature: ['receivePaymentEvent', 'schedulerTick'],
  invitation_not_found: ['acceptInvitation', 'deleteInvitation'],
  member_not_found: ['changeMemberRole', 'endMemberSessions', 'removeMember'],
  policy_not_found: ['createToolRule', 'deleteToolRule', 'listToolRules', 'updateToolPolicy'],
  proposal_not_found: ['deleteProposal', 'readProposal'],
  provider_disabled: ['connectModelAccountWithApiKey', 'startDeviceSignIn', 'startModelSignIn'],
  provider_not_found: ['connectWithApiKey', 'startConnectionSignIn'],
  run_not_finished: ['diffRun', 'giveVerdict', 'readRunEvent'],
  run_without_result: ['followUpRun'],
  session_not_found: ['revokeSession'],
  successful_run_required: ['activateRoutine', 'backfillRoutine', 'forecastBackfill'],
  webhook_not_configured: ['rotateWebhookSecret', 'testWebhook'],
};

test('the right request of every operation is carried out, but for those that need more', async () => {
  const refused: Record<string, string[]> = {};
  // Objects are read and changed before they are deleted.
  const order = ['PUT', 'GET', 'PATCH', 'POST', 'DELETE'];
  const specs = routes.map(({ spec }) => spec);
  for (const spec of specs.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))) {
    const response = await send(rightRequest(spec, known));
    if (response.ok) await response.body?.cancel();
    else {
      const { error } = (await response.json()) as { error: { code: ErrorCode } };
      (refused[error.code] ??= []).push(spec.id);
    }
  }
  const sorted = Object.entries(refused).map(([code, ids]) => [code, ids.toSorted()] as const);
  expect(Object.fromEntries(sorted)).toEqual(REFUSED);
});

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
    { numRuns: BATCHES * TIMES, endOnFailure: true },
  );
  // Requests are useful only if some of them get past the first check. At full size each of these statuses occurs
  // twenty times or more, so one is missing by chance less than once in a hundred million runs.
  const all = [200, 201, 202, 400, 401, 403, 404, 406, 409, 415];
  expect([...seen]).toEqual(expect.arrayContaining(FULL_SIZE ? all : [200, 400, 401, 404]));
});

function send({ method, path, headers, caller, body }: GeneratedRequest): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...callers[caller]!.headers,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}

async function check(request: GeneratedRequest): Promise<number> {
  const { operation, method, path, headers, caller, body } = request;
  const response = await send(request);
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
    // A mutated parameter may turn the path into that of another operation, or of none.
    if (code !== 'route_not_found' && code !== 'method_not_allowed') {
      expect(errorsOf(spec), shown).toContain(code);
    }
    // Only the server of a third party may fail, never this service.
    if (response.status >= 500) expect(code, `${shown}\n${text}`).toBe('provider_error');
  }
  return response.status;
}
