import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { loadConfig } from '#lib/config/index.ts';
import { openTemporal } from '#lib/temporal/index.ts';
import { startEverythingServer, type EverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { startOtlpReceiver, type OtlpReceiver } from '#test/lib/otlp-receiver.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { endScheduler, startNode, type NodeProcess } from '#test/support/node-process.ts';
import { routineBody } from '#test/support/routines.ts';
import { Canaries } from './canaries.ts';

const canaries = new Canaries();
const PASSWORD = canaries.make('password');
const WRONG_PASSWORD = canaries.make('password that was wrong');
const AUTH_SECRET = canaries.make('session secret');
const SCHEDULER_SECRET = canaries.make('scheduler secret');
const WRONG_SCHEDULER_SECRET = canaries.make('scheduler secret that was wrong');
const GATEWAY_KEY = canaries.make('gateway key', 'sk-');
const ENCRYPTION_KEY = canaries.add('encryption key', randomBytes(32).toString('base64'));
const WRONG_API_KEY = `ras_abcdefgh_${canaries.make('API key that was wrong').slice(0, 43)}`;
const BEARER = canaries.make('connection bearer token');
const HEADER = canaries.make('connection header');
const QUERY = canaries.make('key in the query of an address');
const NEW_QUERY = canaries.make('key that was added to an address');

// Texts of people are private, so only Postgres may contain them.
const INSTRUCTIONS = canaries.make('instructions');
const VARIABLE = canaries.make('variable');
const SKILL = canaries.make('skill text');
const ANSWER = canaries.make('model answer');
const PROVIDER_MESSAGE = canaries.make('provider error message');
const TOOL_ARGUMENT = canaries.make('tool argument');
const INVENTED_TOOL = canaries.make('invented tool name');
const RECEIVER_ANSWER = canaries.make('webhook receiver answer');
const WRITTEN = [
  'instructions',
  'variable',
  'skill text',
  'model answer',
  'provider error message',
  'tool argument',
  'invented tool name',
  'webhook receiver answer',
];
/** Secrets that the API shows once. */
const REVEALED = ['API key', 'webhook secret', 'second webhook secret', 'session cookie'];

let database: TestDatabase;
let gateway: Gateway;
let everything: EverythingServer;
let collector: OtlpReceiver;
let hooks: Server;
let hooksUrl: string;
let temporal: Client;
let api: NodeProcess;
let worker: NodeProcess;
let url: string;
let taskQueue: string;

/** Every response of the API: status line, headers and body. */
const answers: { path: string; text: string }[] = [];
const webhookBodies: string[] = [];

beforeAll(async () => {
  [database, gateway, everything, collector] = await Promise.all([
    createTestDatabase(),
    startGateway({ port: 0, log: () => undefined }),
    startEverythingServer(),
    startOtlpReceiver(),
  ]);
  hooks = createServer((request, response) => {
    const receive = async () => {
      webhookBodies.push(await text(request));
      response.writeHead(500).end(RECEIVER_ANSWER);
    };
    void receive();
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  hooksUrl = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/`;
  const port = await freePort();
  url = `http://localhost:${port}`;
  taskQueue = `canary-${randomBytes(6).toString('hex')}`;
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'trace',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    UI_ORIGIN: url,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: taskQueue,
    ENCRYPTION_KEY,
    BETTER_AUTH_SECRET: AUTH_SECRET,
    SCHEDULER_SECRET,
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: GATEWAY_KEY,
    ALLOW_PRIVATE_NETWORK: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  };
  temporal = await openTemporal(loadConfig('api', environment));
  api = startNode('api/server.ts', environment);
  worker = startNode('workers/main.ts', environment);
  await Promise.all([api.until('listening'), worker.until('worker started')]);
});

afterAll(async () => {
  await Promise.all([api?.end('SIGKILL'), worker?.end('SIGKILL')]);
  await endScheduler(temporal, taskQueue);
  await temporal?.connection.close();
  hooks?.closeAllConnections();
  hooks?.close();
  await Promise.all([gateway?.stop(), everything?.stop(), collector?.close(), database?.drop()]);
});

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function call(path: string, { method = 'POST', headers = {}, body }: Call = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  answers.push({ path, text: `${JSON.stringify([...response.headers])}\n${answer}` });
  const parsed = answer.startsWith('{') ? JSON.parse(answer) : {};
  return { status: response.status, response, data: parsed.data, error: parsed.error };
}

async function ended(key: Record<string, string>, runId: string) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const { data } = await call(`/v1/runs/${runId}`, { method: 'GET', headers: key });
    if (!['queued', 'running'].includes(data.state)) return data;
  }
  throw new Error(`run ${runId} did not end`);
}

test('the service leaves no secret in logs, responses, traces, tables or workflow histories', async () => {
  const runIds = await live();
  await sleep(1_500);
  expect(await Promise.all([api.end(), worker.end()])).toEqual([0, 0]);

  // Each place is first shown to contain the expected words, so that an empty place cannot pass.
  const logs = api.output() + worker.output();
  expect(logs).toContain(runIds.succeeded);
  expect(logs).toContain('"status":500');
  // The log contains the provider's refusal for the operator.
  expect(canaries.foundIn(logs)).toEqual(['provider error message']);

  const spans = collector.bodies.join('\n');
  expect(spans).toContain('workflow run');
  expect(canaries.foundIn(spans)).toEqual([]);

  const tables = await dump();
  expect(canaries.foundIn(tables, WRITTEN)).toEqual(WRITTEN);
  expect(canaries.foundIn(tables, canaries.names(...WRITTEN))).toEqual([]);

  const histories = await fetchHistories();
  expect(histories).toContain(runIds.succeeded);
  expect(histories).toContain('webhookDelivery');
  expect(canaries.foundIn(histories)).toEqual([]);

  const revealing = answers.filter(({ text: answer }) => canaries.foundIn(answer, REVEALED).length > 0);
  expect(revealing.map(({ path }) => path)).toEqual([
    '/auth/sign-in/email',
    '/v1/api-keys',
    '/v1/routines',
    expect.stringContaining('/webhook-secret'),
  ]);
  const everyAnswer = answers.map(({ text: answer }) => answer).join('\n');
  expect(canaries.foundIn(everyAnswer, canaries.names(...WRITTEN, ...REVEALED))).toEqual([]);
  expect(canaries.foundIn(webhookBodies.join('\n'), canaries.names(...WRITTEN))).toEqual([]);
});

test('log lines of a request or an activity contain its ids', () => {
  const lines = (output: string) =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  // All output goes through the log, including that of the sign-in library and of Temporal's native half.
  const astray = (output: string) => output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect([...astray(api.output()), ...astray(worker.output())]).toEqual([]);
  const refusedSignIn = lines(api.output()).find(({ msg }) => String(msg).startsWith('auth: '));
  expect(refusedSignIn).toMatchObject({ requestId: expect.any(String) });

  const failed = lines(api.output()).find(({ msg }) => msg === 'failed');
  expect(failed).toMatchObject({
    level: 'error',
    requestId: expect.any(String),
    projectId: expect.stringMatching(/^prj_/),
    route: '/v1/skills',
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  const attempt = lines(worker.output()).find(({ msg }) => msg === 'webhook attempt');
  expect(attempt).toMatchObject({
    runId: expect.stringMatching(/^run_/),
    projectId: expect.stringMatching(/^prj_/),
    workflowId: expect.stringMatching(/^whd_/),
    activity: 'attemptDelivery',
  });
  const modelFault = lines(worker.output()).find(
    ({ msg, temporal }) => msg === 'Activity failed' && typeof temporal === 'object',
  );
  expect(modelFault).toMatchObject({
    level: 'warn',
    err: { type: 'ApplicationFailure' },
    temporal: { workflowId: expect.stringMatching(/^run_/) },
  });
});

/**
 * Makes everything happen once: a run that succeeds, one that fails, a refused webhook, credentials, and all kinds of
 * errors.
 */
async function live() {
  const signUp = await call('/auth/sign-up/email', {
    headers: { Origin: url },
    body: { email: 'canary@example.com', password: PASSWORD, name: 'Canary' },
  });
  expect(signUp.status).toBe(200);
  const signIn = await call('/auth/sign-in/email', {
    headers: { Origin: url },
    body: { email: 'canary@example.com', password: PASSWORD },
  });
  const cookie = signIn.response.headers.getSetCookie()[0]!.split(';')[0]!;
  canaries.add('session cookie', decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)));
  const session = { Cookie: cookie, Origin: url };
  const scopes = ['routines:read', 'routines:write', 'runs:read', 'runs:write', 'models:read'];
  const created = await call('/v1/api-keys', {
    headers: session,
    body: { name: 'k', scopes: [...scopes, 'connections:read', 'connections:write'] },
  });
  const apiKey = canaries.add('API key', created.data.key);
  const key = { Authorization: `Bearer ${apiKey}` };

  const skill = await call('/v1/skills', {
    headers: key,
    body: { name: 'Skill', instructions: `Mind this: ${SKILL}` },
  });
  gateway.control.script({ marker: INSTRUCTIONS, behaviour: { kind: 'text', text: ANSWER } });
  const routine = await call('/v1/routines', {
    headers: key,
    body: {
      ...routineBody({ instructions: `${INSTRUCTIONS} {{topic}}`, variables: { topic: VARIABLE } }),
      skills: [skill.data.id],
      webhookUrl: hooksUrl,
    },
  });
  canaries.add('webhook secret', routine.data.webhookSecret);
  const rotated = await call(`/v1/routines/${routine.data.id}/webhook-secret`, { headers: key });
  canaries.add('second webhook secret', rotated.data.webhookSecret);
  const started = await call(`/v1/routines/${routine.data.id}/run`, {
    headers: { ...key, 'Idempotency-Key': 'canary-run-0001' },
  });
  const succeeded = await ended(key, started.data.id);
  expect(succeeded).toMatchObject({ state: 'succeeded', result: ANSWER });

  gateway.control.script({
    marker: INSTRUCTIONS,
    behaviour: { kind: 'error', status: 400, message: PROVIDER_MESSAGE },
  });
  const again = await call(`/v1/routines/${routine.data.id}/run`, { headers: key });
  const failed = await ended(key, again.data.id);
  expect(failed.state).toBe('failed');

  const policies: Policy[] = [];
  for (const credentials of [
    { bearerToken: BEARER },
    { headers: { 'X-Tool-Key': HEADER } },
    { url: `${everything.url}?api_key=${QUERY}` },
  ]) {
    const connection = await call('/v1/connections', {
      headers: key,
      body: { name: 'Tools', url: everything.url, ...credentials },
    });
    expect(connection.status).toBe(201);
    const discovered = await call(`/v1/routines/${routine.data.id}/connections/${connection.data.id}/discover`, {
      headers: key,
    });
    expect(discovered.status).toBeLessThan(300);
    // The first tool is called later. In the end it is the tool behind the address with a key in its query.
    policies.unshift(...discovered.data.tools);
    if (!('headers' in credentials)) continue;
    const changed = await call(`/v1/connections/${connection.data.id}`, {
      method: 'PATCH',
      headers: key,
      body: { url: `${everything.url}?token=${NEW_QUERY}`, bearerToken: BEARER },
    });
    expect(changed.status).toBe(200);
  }
  const listed = await call('/v1/connections', { method: 'GET', headers: key });
  for (const shown of ['?api_key=[redacted]', '?token=[redacted]']) {
    expect(JSON.stringify(listed.data)).toContain(shown);
  }
  await runWithTools(key, routine.data.id, policies);
  await provokeErrors(key, session);
  for (const end = Date.now() + 60_000; webhookBodies.length < 3; await sleep(50)) {
    if (Date.now() > end) throw new Error('the webhooks were not sent');
  }
  return { succeeded: succeeded.id as string, failed: failed.id as string };
}

interface Policy {
  readonly id: string;
  readonly name: string;
}

/** Makes a run that calls a tool with credentials, and a tool that does not exist. */
async function runWithTools(key: Record<string, string>, routineId: string, policies: readonly Policy[]) {
  const echo = policies.find(({ name }) => name === 'echo');
  const confirmed = await call(`/v1/routines/${routineId}/tools/${echo?.id}`, {
    method: 'PATCH',
    headers: key,
    body: { confirmAutomaticExecution: true },
  });
  expect(confirmed.status).toBe(200);
  const calls = [{ name: 'echo', arguments: { message: TOOL_ARGUMENT } }, { name: INVENTED_TOOL }];
  gateway.control.script({ marker: INSTRUCTIONS, behaviour: { kind: 'tool-calls', calls } });
  gateway.control.script({ marker: INSTRUCTIONS, behaviour: { kind: 'text', text: ANSWER } });
  const started = await call(`/v1/routines/${routineId}/run`, { headers: key });
  const run = await ended(key, started.data.id);
  expect(run.state).toBe('succeeded');
  expect(run.steps.filter(({ kind }: { kind: string }) => kind === 'tool')).toHaveLength(2);
}

async function provokeErrors(key: Record<string, string>, session: Record<string, string>) {
  const statuses = [
    await call('/auth/sign-in/email', {
      headers: { Origin: url },
      body: { email: 'canary@example.com', password: WRONG_PASSWORD },
    }),
    await call('/v1/routines', {
      method: 'GET',
      headers: { Authorization: `Bearer ${WRONG_API_KEY}` },
    }),
    await call(`/v1/nothing?api_key=${GATEWAY_KEY}&password=${PASSWORD}`, { method: 'GET' }),
    await call('/v1/routines', { headers: key, body: `{"instructions": "${BEARER}` }),
    await call('/v1/connections', {
      headers: key,
      body: { name: '', url: 'nonsense', bearerToken: BEARER, headers: { 'bad name': HEADER } },
    }),
    await call('/v1/connections', {
      headers: key,
      body: { name: 'Down', url: `http://127.0.0.1:9/mcp?api_key=${QUERY}`, bearerToken: BEARER },
    }),
    await call('/v1/api-keys', { method: 'GET', headers: session }),
    await call('/internal/scheduler/tick', {
      headers: { 'X-Scheduler-Secret': WRONG_SCHEDULER_SECRET },
    }),
    await call('/internal/scheduler/tick', { headers: { 'X-Scheduler-Secret': SCHEDULER_SECRET } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([401, 401, 404, 400, 400, expect.any(Number), 200, 401, 202]);

  // Cause an internal error: the database's error contains the whole row in its detail.
  await database.database.query('alter table skills add constraint fault check (false) not valid');
  const fault = await call('/v1/skills', {
    headers: key,
    body: { name: 'Fault', instructions: `Not to be logged: ${SKILL}` },
  });
  expect(fault).toMatchObject({ status: 500, error: { code: 'internal_error' } });
}

/** Returns all rows of all tables as JSON, with bytes also as text. */
async function dump(): Promise<string> {
  const { rows: tables } = await database.database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  let all = '';
  for (const { name } of tables) {
    const { rows } = await database.database.query<{ row: string }>(
      `select row_to_json(t)::text as row from "${name}" t`,
    );
    all += rows.map(({ row }) => `${name} ${row}\n`).join('');
  }
  return (
    all +
    [...all.matchAll(/\\\\x((?:[0-9a-f]{2})+)/g)]
      .map(([, hex]) => Buffer.from(hex!, 'hex').toString('latin1'))
      .join('\n')
  );
}

/** Returns every event of every workflow of this test, with decoded payloads. */
async function fetchHistories(): Promise<string> {
  let all = '';
  // Temporal lists an ended workflow a little later.
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(250)) {
    all = '';
    let count = 0;
    for await (const { workflowId, runId } of temporal.workflow.list({
      query: `TaskQueue = '${taskQueue}'`,
    })) {
      const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
      all += JSON.stringify(history, (_key, value: unknown) => readable(value));
      count += 1;
    }
    // Three runs and their deliveries have histories. The scheduler may belong to another test on the same server.
    if (count >= 6) return all;
  }
  throw new Error(`not all workflows are there: ${all}`);
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  // `toJSON` of a Buffer returns this form.
  if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer') {
    return Buffer.from((value as unknown as { data: number[] }).data).toString('utf8');
  }
  return value;
}
