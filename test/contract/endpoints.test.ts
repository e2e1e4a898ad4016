import { readFileSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AuthKind } from '#api/access.ts';
import { buildOpenApi } from '#api/docs/openapi.ts';
import type { Route } from '#api/route.ts';
import { routes } from '#api/routes.ts';

/** Operations that users of such a service need and the contract does not name. */
const beyondContract: readonly string[] = [
  'GET /ready',
  'GET /v1/version',
  'GET /public/config',
  'GET /v1/model-sources',
  'POST /v1/models/test',
  'POST /v1/routines/draft',
  'GET /v1/blueprints',
  'PATCH /v1/model-figures',
  'GET /v1/skills',
  'GET /v1/skills/{skillId}',
  'GET /v1/skills/{skillId}/revisions',
  'PATCH /v1/skills/{skillId}',
  'DELETE /v1/skills/{skillId}',
  'PUT /v1/skills/by-key/{externalKey}',
  'PUT /v1/routines/by-key/{externalKey}',
  'GET /v1/connections/{connectionId}',
  'PATCH /v1/connections/{connectionId}',
  'POST /v1/routines/{routineId}/webhook-secret',
  'POST /v1/routines/{routineId}/webhook-test',
  'POST /v1/routines/{routineId}/restore',
  'POST /v1/routines/{routineId}/proposals',
  'GET /v1/routines/{routineId}/proposals/{proposalId}',
  'DELETE /v1/routines/{routineId}/proposals/{proposalId}',
  'POST /v1/routines/check',
  'GET /v1/routines/{routineId}/versions',
  'GET /v1/routines/{routineId}/versions/{revision}',
  'POST /v1/routines/{routineId}/versions/{revision}/restore',
  'GET /v1/routines/{routineId}/forecast',
  'GET /v1/routines/{routineId}/series',
  'POST /v1/routines/{routineId}/preview',
  'POST /v1/routines/{routineId}/backfill',
  'GET /v1/routines/{routineId}/backfill/forecast',
  'GET /v1/schedules/preview',
  'GET /v1/schedules/occurrences',
  'GET /v1/results',
  'GET /v1/results/days',
  'GET /v1/results/unread',
  'POST /v1/results/read',
  'POST /v1/results/unread',
  'POST /v1/runs/{runId}/follow-up',
  'GET /v1/questions',
  'GET /v1/questions/{questionId}',
  'POST /v1/questions/{questionId}/answer',
  'PUT /v1/runs/{runId}/verdict',
  'POST /v1/runs/{runId}/links',
  'GET /v1/runs/{runId}/links',
  'DELETE /v1/runs/{runId}/links/{linkId}',
  'POST /public/shared-results',
  'GET /v1/attention',
  'GET /v1/projects/{projectId}/digest',
  'PATCH /v1/projects/{projectId}/digest',
  'GET /v1/runs/recent',
  'GET /v1/usage',
  'GET /v1/organizations/{organizationId}',
  'PATCH /v1/organizations/{organizationId}',
  'DELETE /v1/organizations/{organizationId}',
  'GET /v1/organizations/{organizationId}/members',
  'PATCH /v1/organizations/{organizationId}/members/{userId}',
  'DELETE /v1/organizations/{organizationId}/members/{userId}',
  'DELETE /v1/organizations/{organizationId}/members/{userId}/sessions',
  'GET /v1/organizations/{organizationId}/invitations',
  'POST /v1/organizations/{organizationId}/invitations',
  'DELETE /v1/organizations/{organizationId}/invitations/{invitationId}',
  'POST /v1/invitations/accept',
  'GET /v1/sessions',
  'DELETE /v1/sessions/{sessionId}',
  'GET /v1/audit-events',
  'GET /v1/ci-trusts',
  'POST /v1/ci-trusts',
  'DELETE /v1/ci-trusts/{ciTrustId}',
  'POST /v1/auth/ci-token',
  'GET /v1/assistants',
  'DELETE /v1/assistants/{assistantId}',
  'POST /v1/assistant-consents/read',
  'POST /v1/assistant-consents/approve',
  'POST /v1/assistant-consents/deny',
  'GET /v1/terminal-sign-ins/{userCode}',
  'POST /v1/terminal-sign-ins/{userCode}/approve',
  'POST /v1/terminal-sign-ins/{userCode}/deny',
  'GET /v1/project',
  'GET /v1/projects/{projectId}',
  'GET /v1/projects/{projectId}/facts',
  'PUT /v1/projects/{projectId}/facts',
  'GET /v1/projects/{projectId}/facts/versions',
  'GET /v1/projects/{projectId}/facts/versions/{factsVersion}',
  'PATCH /v1/projects/{projectId}',
  'PATCH /v1/runs/{runId}',
  'DELETE /v1/projects/{projectId}',
  'GET /v1/runs/{runId}/steps',
  'GET /v1/runs/{runId}/diff',
  'GET /v1/runs/{runId}/event',
  'GET /v1/runs/{runId}/events',
  'POST /v1/runs/{runId}/cancel',
  'POST /v1/runs/{runId}/retry',
  'POST /v1/runs/{runId}/webhook-deliveries/{deliveryId}/redeliver',
  'POST /v1/runs/{runId}/chat-deliveries/{deliveryId}/redeliver',
  'GET /v1/actions',
  'POST /v1/actions/approve',
  'POST /v1/actions/reject',
  'GET /v1/actions/{actionId}',
  'POST /v1/actions/{actionId}/approve',
  'POST /v1/actions/{actionId}/reject',
  'GET /v1/routines/{routineId}/tools/{policyId}/rules',
  'POST /v1/routines/{routineId}/tools/{policyId}/rules',
  'DELETE /v1/routines/{routineId}/tools/{policyId}/rules/{ruleId}',
  'GET /v1/chats',
  'POST /v1/chats',
  'GET /v1/chats/{chatId}',
  'PATCH /v1/chats/{chatId}',
  'DELETE /v1/chats/{chatId}',
  'POST /v1/chats/{chatId}/test',
];

/** Scopes that the contract does not name: a key that may not write connections must not create one. */
const scopesBeyondContract: Readonly<Record<string, string>> = {
  'POST /v1/connections/api-key/{provider}': 'connections:write',
};

interface Operation {
  readonly auth: string;
  readonly scope: string | undefined;
  readonly success: number;
}

const contract = readContract();
const declared = new Map(routes.map((route) => [nameOf(route), ofRoute(route)]));
const documented = readDocument();

test('the routes are the operations of the contract, with its authentication, scope and status, and no others', () => {
  const built = [...declared].filter(([name]) => !beyondContract.includes(name));
  expect(Object.fromEntries(built)).toEqual(Object.fromEntries(contract));
});

test('the operations beyond the contract are exactly the listed ones', () => {
  const beyond = [...declared.keys()].filter((name) => !contract.has(name));
  expect(beyond.toSorted()).toEqual(beyondContract.toSorted());
});

test('the OpenAPI document says the same of every operation as the routes do', () => {
  const asDocumented = [...declared].map(([name, operation]) => [name, documentedForm(operation)]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(asDocumented));
});

test('a route is named in the code as its operation is named in OpenAPI', async () => {
  const named: string[] = [];
  for await (const file of glob('api/{v1,outside}/**/*.ts')) {
    const source = await readFile(file, 'utf8');
    for (const [, name, id] of source.matchAll(DECLARATION)) {
      named.push(String(id));
      expect([file, name]).toEqual([file, id]);
    }
  }
  expect(named.toSorted()).toEqual(routes.map(({ spec }) => spec.id).toSorted());
});

const DECLARATION = /^(?:export )?const (\w+) = (?:(?:event)?[rR]oute|routesOf\('[^']+'\))\(.+, \{\n {2}id: '(\w+)',$/gm;

function readContract(): Map<string, Operation> {
  const file = new URL('./endpoints.json', import.meta.url);
  const operations = z
    .array(
      z.strictObject({
        method: z.string(),
        path: z.string(),
        auth: z.string(),
        scope: z.string().optional(),
        success: z.number(),
      }),
    )
    .parse(JSON.parse(readFileSync(file, 'utf8')));
  return new Map(
    operations.map(({ method, path, auth, scope, success }) => [
      `${method} ${path}`,
      { auth, scope: scope ?? scopesBeyondContract[`${method} ${path}`], success },
    ]),
  );
}

function nameOf({ spec }: Route): string {
  return `${spec.method} ${spec.path.replaceAll(/:(\w+)/g, '{$1}')}`;
}

function ofRoute({ spec }: Route): Operation {
  return { auth: contractAuth(spec.auth), scope: spec.scope, success: spec.success.status };
}

/** Maps an operation's kind of caller to the contract's. The contract does not distinguish sessions by project. */
function contractAuth(kind: AuthKind): string {
  if (kind === 'returning-owner') return 'owner-session';
  return kind === 'project-session' ? 'session' : kind;
}

/** Maps an operation to the form that a document can express: it has one scheme for the sessions of all persons. */
function documentedForm({ auth, scope, success }: Operation): Operation {
  return { auth: auth.endsWith('session') && auth !== 'key-or-session' ? 'session' : auth, scope, success };
}

function readDocument(): Map<string, Operation> {
  const document = buildOpenApi(routes, { publicUrl: 'https://api.test', productTag: 'ras' });
  const found = new Map<string, Operation>();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    // The authentication library serves these paths; test/core/accounts/identity compares them with the document.
    if (path.startsWith('/auth/')) continue;
    for (const [method, operation] of Object.entries(item ?? {})) {
      const { security, responses } = z
        .object({
          security: z.array(z.record(z.string(), z.array(z.string()))),
          responses: z.record(z.string(), z.unknown()),
        })
        .parse(operation);
      const success = Object.keys(responses).filter((status) => status.startsWith('2'));
      found.set(`${method.toUpperCase()} ${path}`, {
        auth: authOf(security),
        scope: security.flatMap((scheme) => Object.values(scheme).flat())[0],
        // A stream with nothing left to send also responds with 204.
        success: Math.min(...success.map(Number)),
      });
    }
  }
  return found;
}

function authOf(security: readonly Record<string, string[]>[]): string {
  const schemes = security.flatMap((scheme) => Object.keys(scheme));
  if (schemes.includes('apiKey')) return schemes.includes('session') ? 'key-or-session' : 'key';
  if (schemes.includes('schedulerSecret')) return 'scheduler-secret';
  if (schemes.includes('stripeSignature')) return 'stripe-signature';
  if (schemes.includes('uiOrigin')) return 'ui-origin';
  return schemes.includes('session') ? 'session' : (schemes[0] ?? 'none');
}
