import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import type { AuthorizationServer } from '#dev/fakes/authorization-server/options.ts';
import type { FixtureProviders } from '#dev/fakes/providers/server.ts';
import { FIXTURE_CLIENTS, startSignInProviders } from '#dev/fakes/providers/sign-in.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { createRig, type Rig, type RigOptions } from '#test/runtime/rig.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service, type ServiceOptions } from '#test/support/service.ts';
import { visit } from '#test/support/visit.ts';
import { ago, changeSignIns, giveRole } from '#test/support/given.ts';

export const UI_ORIGIN = 'http://localhost:5998';
export const CALLBACK = '/v1/model-connections/provider-b/oauth/callback';
const PASTED = 'http://localhost:1455/auth/callback';
const BASE = '/v1/model-connections';

export interface ModelFixture {
  readonly service: Service;
  readonly rig: Rig;
  readonly providers: FixtureProviders;
  readonly authorizationServer: AuthorizationServer;
  /** The runtime, in a process of its own. */
  readonly runtime: Awaited<ReturnType<Rig['spawn']>>;
  /** Environment of another API process with the same database and servers. */
  env(overrides?: Record<string, string>): Record<string, string>;
  close(): Promise<void>;
}

/** Starts the service, three fixture providers for sign-ins, and a real runtime process that tries credentials. */
export async function startModelFixture(
  options: Pick<RigOptions, 'auth' | 'api'> & {
    readonly env?: Record<string, string>;
    readonly worker?: ServiceOptions['worker'];
  } = {},
): Promise<ModelFixture> {
  const { providers, authorizationServer, ...signIn } = await startSignInProviders({
    ports: { providers: 0, authorizationServer: 0 },
    redirectUris: [`${UI_ORIGIN}${CALLBACK}`, PASTED],
    log: () => undefined,
  });
  const rig = await createRig({
    providers,
    issuer: authorizationServer.issuer,
    ...(options.auth === undefined ? {} : { auth: options.auth }),
    ...(options.api === undefined ? {} : { api: options.api }),
  });
  const runtime = await rig.spawn({ LOG_LEVEL: 'trace' });
  const ca = path.join(rig.folder, 'ca.pem');
  writeFileSync(ca, rig.ca);
  const env = (overrides: Record<string, string> = {}) => ({
    UI_ORIGIN,
    ...pick(rig.env, (name) => name.startsWith('MODEL_PROVIDER_')),
    MODEL_RUNTIME_SECRET: rig.secret,
    MODEL_RUNTIME_URL: `https://127.0.0.1:${runtime.port}`,
    MODEL_RUNTIME_CA_FILE: ca,
    MODEL_PROVIDER_A_CLIENT_ID: FIXTURE_CLIENTS.a,
    MODEL_PROVIDER_B_CLIENT_ID: FIXTURE_CLIENTS.b,
    ...options.env,
    ...overrides,
  });
  const service = await startService({ env: env(), worker: options.worker ?? false });
  return {
    service,
    rig,
    providers,
    authorizationServer,
    runtime,
    env,
    async close() {
      await service.close();
      await rig.close();
      await signIn.stop();
    },
  };
}

export interface OwnSession {
  readonly person: Person;
  /** Client with a session that has the project selected. */
  readonly session: ApiClient;
}

export async function newOwner({ service }: Pick<ModelFixture, 'service'>): Promise<OwnSession> {
  const person = await signUp(service);
  return { person, session: person.session.with({ 'X-Project-Id': person.projectId }) };
}

/** The fixture of a file's tests, and the owner of the present test; `useModelFixture` sets both. */
export let fixture: ModelFixture;
export let ada: OwnSession;

let shared: Promise<ModelFixture> | undefined;

/**
 * Gives the tests of a file the fixture that all files of this process share. Before each test it signs up a new owner,
 * and resets the providers.
 */
export function useModelFixture(): void {
  beforeAll(async () => {
    fixture = await (shared ??= startModelFixture());
    fixture.providers.control.reset();
  }, 60_000);
  beforeEach(async () => {
    ada = await newOwner(fixture);
    const { control } = fixture.authorizationServer;
    Object.assign(control, { answer: 'approve', tokenDelayMs: 0 });
    control.tokenFaults.length = 0;
    control.tokenRequests.length = 0;
    control.revocationFaults.length = 0;
    control.revocationRequests.length = 0;
  });
}

/** Adds another person to the same organization. */
export async function newColleague({ service }: Pick<ModelFixture, 'service'>, of: Person): Promise<OwnSession> {
  const person = await signUp(service);
  await giveRole(service.deps.database, of.organizationId, person.userId, 'member');
  return { person, session: person.session.with({ 'X-Project-Id': of.projectId }) };
}

export function startDevice(session: ApiClient, body: object = {}) {
  return session.post(`${BASE}/provider-a/device/start`, body);
}

export function pollDevice(session: ApiClient, attemptId: string) {
  return session.get(`${BASE}/provider-a/device/${attemptId}`);
}

/** Ends the polling interval of a sign-in. */
export async function makeDue({ service }: Pick<ModelFixture, 'service'>, attemptId: string) {
  await changeSignIns(service.deps.database, attemptId, { nextPollAt: AT_ONCE });
}

/** Lets a sign-in expire. */
export async function runOut({ service }: Pick<ModelFixture, 'service'>, attemptId: string) {
  await changeSignIns(service.deps.database, attemptId, { expiresAt: ago('1 second') });
}

/** Polls a sign-in after its interval has passed. */
export async function pollDue(fixture: ModelFixture, session: ApiClient, attemptId: string) {
  await makeDue(fixture, attemptId);
  return pollDevice(session, attemptId);
}

/** Connects an account by device code, from start to end. */
export async function connectByDevice(
  fixture: ModelFixture,
  session: ApiClient,
  { account = `person-${randomUUID()}`, body = {} }: { account?: string; body?: object } = {},
) {
  const { control } = fixture.authorizationServer;
  const started = await startDevice(session, body);
  if (started.status !== 201) throw new Error(JSON.stringify(started.body));
  control.account = account;
  await control.answerDevice(started.data.userCode, 'approve');
  const polled = await pollDue(fixture, session, started.data.attemptId);
  if (polled.data.state !== 'succeeded') throw new Error(JSON.stringify(polled.body));
  return connectionOf(session, polled.data.connectionId);
}

export function startOAuth(session: ApiClient, body: object = {}) {
  return session.post(`${BASE}/provider-b/oauth/start`, body);
}

export function comeBack(session: ApiClient, query: string) {
  return session.get(`${CALLBACK}${query}`);
}

/** Connects an account by a sign-in in the browser; returns the response of the callback. */
export async function connectByOAuth(
  fixture: ModelFixture,
  session: ApiClient,
  { account = `person-${randomUUID()}`, body = {} }: { account?: string; body?: object } = {},
) {
  const started = await startOAuth(session, body);
  if (started.status !== 200) throw new Error(JSON.stringify(started.body));
  fixture.authorizationServer.control.account = account;
  const address = await visitModelPage(started.data.authorizationUrl);
  return comeBack(session, new URL(address).search);
}

export function connectWithKey(session: ApiClient, apiKey: string, body: object = {}) {
  return session.post(`${BASE}/provider-c/api-key`, { apiKey, ...body });
}

/** Returns a new key that the fixture provider accepts. */
export function goodKey({ providers }: ModelFixture): string {
  const key = `sk-fixture-${randomUUID()}`;
  providers.control.credentials.add(key);
  return key;
}

export async function connectionOf(session: ApiClient, id: string) {
  const { data } = await session.get(BASE);
  return data.find((each: { id: string }) => each.id === id);
}

export function revoke(session: ApiClient, id: string) {
  return session.post(`${BASE}/${id}/revoke`);
}

/** Reads the columns of a connection that no response contains. */
export async function storedRow({ service }: ModelFixture, id: string) {
  const found = await service.deps.database.row<
    Record<string, unknown>
  >`select * from model_connections where id = ${id}`;
  return found!;
}

/** Follows an authorization URL like a browser, and returns the address at which it ends. */
export async function visitModelPage(authorizationUrl: string): Promise<string> {
  const { href } = await visit(
    authorizationUrl,
    (url) => url.href.startsWith(UI_ORIGIN) || url.href.startsWith(PASTED),
  );
  return href;
}

function pick(from: Record<string, string>, wanted: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(from).filter(([name]) => wanted(name)));
}
