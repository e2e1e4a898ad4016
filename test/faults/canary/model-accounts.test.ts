import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import {
  comeBack,
  connectWithKey,
  makeDue,
  pollDevice,
  revoke,
  startDevice,
  startModelFixture,
  startOAuth,
  visitModelPage,
  type ModelFixture,
} from '#test/core/models/connections/fixture.ts';
import { ApiClient, type Answer } from '#test/support/client.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { Canaries } from './canaries.ts';

const canaries = new Canaries();
const KEY = canaries.make('account key', 'sk-');
const WRONG_KEY = canaries.make('account key that was wrong', 'sk-');

let fixture: ModelFixture;
let api: NodeProcess;
let url: string;

beforeAll(async () => {
  fixture = await startModelFixture();
  canaries.add('runtime secret', fixture.rig.secret);
  fixture.providers.control.credentials.add(KEY);
  const { config, databaseUrl } = fixture.service;
  const port = await freePort();
  url = `http://localhost:${port}`;
  api = startNode('api/server.ts', {
    ...fixture.env(),
    NODE_ENV: 'test',
    LOG_LEVEL: 'trace',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    ENCRYPTION_KEY: config.ENCRYPTION_KEY,
    BETTER_AUTH_SECRET: config.BETTER_AUTH_SECRET,
    GATEWAY_BASE_URL: config.GATEWAY_BASE_URL,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
  });
  await api.until('listening');
});

afterAll(async () => {
  await api?.end('SIGKILL');
  await fixture?.close();
});

test('three sign-ins, their errors and a revocation leave no credential in logs, answers, tables or the journal', async () => {
  const answers = await live();
  expect(await api.end()).toBe(0);
  expect(await fixture.runtime.end()).toBe(0);
  // The credentials that the provider received must be nowhere else.
  const seen = fixture.providers.control.requests().flatMap(({ headers }) => {
    const { authorization = '', 'x-api-key': key } = headers;
    return [/^Bearer (.+)$/.exec(authorization)?.[1], typeof key === 'string' ? key : undefined];
  });
  const tokens = new Set(seen.filter((value) => value !== undefined && !value.startsWith('sk-')));
  expect(tokens.size).toBe(2);
  for (const token of tokens) canaries.add(`access token ${token?.slice(0, 4)}`, token!);

  const logs = api.output() + fixture.runtime.output();
  expect(logs).toContain('/v1/model-connections/provider-a/device/:attemptId');
  expect(logs).toContain('"purpose":"verify"');
  expect(canaries.foundIn(logs)).toEqual([]);

  const said = answers.map(({ headers, body }) => JSON.stringify([[...headers], body])).join('\n');
  expect(said).toContain('mcn_');
  // The state and the nonce are in the address to which a person is redirected.
  const shown = ['state', 'nonce'];
  expect(canaries.foundIn(said, canaries.names(...shown))).toEqual([]);

  const tables = await dump();
  expect(tables).toContain('mcn_');
  expect(canaries.foundIn(tables)).toEqual([]);

  const state = fixture.rig.env['MODEL_RUNTIME_STATE_DIR']!;
  const journal = readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
  expect(journal).toContain('verify/');
  expect(canaries.foundIn(journal)).toEqual([]);
});

/** Connects in every way once, with the possible faults. */
async function live(): Promise<Answer[]> {
  const person = await signUp({ url, config: fixture.service.config });
  const session = new ApiClient(url, {
    ...person.session.headers,
    'X-Project-Id': person.projectId,
  });
  const { control } = fixture.authorizationServer;

  const started = await startDevice(session);
  const { attemptId, userCode } = started.data;
  await makeDue(fixture, attemptId);
  const waiting = await pollDevice(session, attemptId);
  await control.answerDevice(userCode, 'approve');
  await makeDue(fixture, attemptId);
  const device = await pollDevice(session, attemptId);
  expect(device.data.state).toBe('succeeded');

  const begun = await startOAuth(session);
  const asked = new URL(begun.data.authorizationUrl).searchParams;
  canaries.add('state', asked.get('state')!);
  canaries.add('nonce', asked.get('nonce')!);
  const query = new URL(await visitModelPage(begun.data.authorizationUrl)).search;
  canaries.add('authorization code', new URLSearchParams(query).get('code')!);
  const signedIn = await comeBack(session, query);
  expect(signedIn.status).toBe(200);
  const again = await comeBack(session, query);
  expect(again.status).toBe(200);

  const wrong = await connectWithKey(session, WRONG_KEY);
  expect(wrong.status).toBe(400);
  const malformed = await session.post('/v1/model-connections/provider-c/api-key', `{"apiKey": "${KEY}`);
  expect(malformed.status).toBe(400);
  const keyed = await connectWithKey(session, KEY);
  expect(keyed.status).toBe(200);
  const listed = await session.get('/v1/model-connections');
  const models = await session.get(`/v1/model-connections/${keyed.data.id}/models`);
  control.revocationFaults.push(500);
  const revoked = await revoke(session, device.data.connectionId);
  expect(revoked.status).toBe(200);
  await expect.poll(() => control.revocationRequests.length).toBe(1);
  return [started, waiting, device, begun, signedIn, again, wrong, malformed, keyed, listed, models, revoked];
}

async function dump(): Promise<string> {
  const { database } = fixture.service.deps;
  const tables = await database.rows<{
    name: string;
  }>`select table_name as name from information_schema.tables where table_schema = 'public'`;
  const all: string[] = [];
  for (const { name } of tables) {
    const found = await database.query<{ row: string }>(`select row_to_json(t)::text as row from "${name}" t`);
    all.push(...found.rows.map(({ row }) => `${name} ${row}`));
  }
  return all.join('\n');
}
