import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const demoFile = z.object({
  email: z.string(),
  password: z.string(),
  apiKey: z.string(),
  routineId: z.string(),
});

/** The demo account of a local start. Its key is kept in the data folder, for its owner only, to be shown again. */
export type Demo = z.output<typeof demoFile> & {
  /** Instruction for a person who wants the routine to run by itself; absent when it does. */
  readonly leftToDo?: string;
};

const ACCOUNT = { email: 'demo@example.com', password: 'demo-password', name: 'Demo' };

interface SeedOptions {
  readonly dataDir: string;
  readonly uiOrigin: string;
  readonly toolServer: string;
  readonly mail: string;
  /** Time that a busy machine may take for the first run, before the service is shown without its end. */
  readonly patienceMs?: number;
}

/**
 * Creates the demo organization with one active routine through the public API, as a user would, or finds that of an
 * earlier start.
 */
export async function seedDemo(
  baseUrl: string,
  { dataDir, uiOrigin, toolServer, mail, patienceMs = 60_000 }: SeedOptions,
): Promise<Demo> {
  const file = path.join(dataDir, 'demo.json');
  if (existsSync(file)) {
    const demo = demoFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    const response = await fetch(`${baseUrl}/v1/routines/${demo.routineId}`, {
      headers: { Authorization: `Bearer ${demo.apiKey}` },
    });
    const body: unknown = await response.json();
    if (response.ok) return { ...demo, ...draftOf(body) };
  }
  const cookie = await signIn(baseUrl, { uiOrigin, mail });
  const call = caller(baseUrl, { Cookie: cookie, Origin: uiOrigin });
  const { key: apiKey } = createdKey.parse(
    await call('POST', '/v1/api-keys', {
      name: 'demo',
      scopes: [
        'models:read',
        'routines:read',
        'routines:write',
        'runs:read',
        'runs:write',
        'connections:read',
        'connections:write',
      ],
    }),
  );
  const models = modelList.parse(await call('GET', '/v1/models'));
  const model = models.find(({ modelId }) => modelId === FIXTURE_MODEL) ?? models[0];
  const routine = withId.parse(await call('POST', '/v1/routines', { ...DEMO_ROUTINE, model }));
  const routineId = routine.id;
  await giveTool(call, routineId, toolServer);
  const { id: runId } = withId.parse(await call('POST', `/v1/routines/${routineId}/run`, {}));
  const demo = { email: ACCOUNT.email, password: ACCOUNT.password, apiKey, routineId };
  writeFileSync(file, JSON.stringify(demo, null, 2), { mode: 0o600 });
  const state = await stateAfter(call, runId, patienceMs);
  if (state !== 'succeeded') return { ...demo, leftToDo: leftToDo(state) };
  await call('POST', `/v1/routines/${routineId}/activate`, {});
  return demo;
}

/** Says what is left to do where an earlier start did not activate the routine. */
function draftOf(body: unknown): Pick<Demo, 'leftToDo'> {
  const { data } = z
    .object({ data: z.object({ state: z.string(), name: z.string() }) })
    .parse(body);
  return data.state === 'draft'
    ? { leftToDo: `"${data.name}" is a draft; activate it to have it run by itself.` }
    : {};
}

function leftToDo(state: string): string {
  const { name } = DEMO_ROUTINE;
  return state === 'queued' || state === 'running'
    ? `The first run of "${name}" is still ${state}; activate the routine once it has succeeded.`
    : `The first run of "${name}" ended ${state}; its page says why. Run it again, then activate it.`;
}

const DEMO_ROUTINE = {
  name: 'Daily site check',
  instructions:
    'Greet {{site}} through the tool echo, then look it over as a visitor from a search engine ' +
    'would and report, in five lines, what to mend first.',
  variables: { site: 'example.com' },
  schedule: '0 7 * * *',
  timezone: 'UTC',
  skills: ['seo-audit'],
};

const FIXTURE_MODEL = 'fixture/writer-small';
const DEMO_TOOL = 'echo';

/** Connects the tool server, discovers its tools for the routine and confirms one of them, as a person would. */
async function giveTool(call: Call, routineId: string, url: string): Promise<void> {
  const connection = withId.parse(
    await call('POST', '/v1/connections', { name: 'Demo tools', url }),
  );
  await call('POST', `/v1/routines/${routineId}/connections/${connection.id}/discover`);
  const policies = policyList.parse(await call('GET', `/v1/routines/${routineId}/tools`));
  const policy = policies.find(({ name }) => name === DEMO_TOOL);
  if (policy === undefined) throw new Error(`The demo tool server has no tool ${DEMO_TOOL}.`);
  await call('PATCH', `/v1/routines/${routineId}/tools/${policy.id}`, {
    confirmAutomaticExecution: true,
  });
}

const modelList = z.array(
  z.object({ provider: z.string(), connectionId: z.string().nullable(), modelId: z.string() }),
);
const policyList = z.array(z.object({ id: z.string(), name: z.string() }));
const withId = z.object({ id: z.string() });
const createdKey = z.object({ key: z.string() });
const runState = z.object({ state: z.string() });

type Call = (method: string, target: string, body?: unknown) => Promise<unknown>;

/** Signs the demo account up, if need be, confirms its address by the mail, and signs it in. */
async function signIn(
  baseUrl: string,
  { uiOrigin, mail }: { uiOrigin: string; mail: string },
): Promise<string> {
  const post = (target: string, body: object) =>
    fetch(`${baseUrl}${target}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: uiOrigin },
      body: JSON.stringify(body),
    });
  const { name: _name, ...credentials } = ACCOUNT;
  await post('/auth/sign-up/email', ACCOUNT);
  let response = await post('/auth/sign-in/email', credentials);
  if (response.status === 403) {
    await confirmAddress(mail, ACCOUNT.email);
    response = await post('/auth/sign-in/email', credentials);
  }
  if (!response.ok) throw new Error(`The demo account cannot sign in: ${await response.text()}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

const caughtMails = z.array(z.object({ text: z.string() }));

/** Follows the link in the latest mail to the address, once the mail is there. */
async function confirmAddress(mail: string, address: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    const response = await fetch(`${mail}/messages?to=${encodeURIComponent(address)}`);
    const [latest] = caughtMails.parse(await response.json());
    const link = latest && /https?:\/\/\S+\/auth\/verify-email\?\S+/.exec(latest.text)?.[0];
    if (link !== undefined) {
      const followed = await fetch(link, { redirect: 'manual' });
      await followed.body?.cancel();
      return;
    }
    await sleep(100);
  }
  throw new Error('No mail came to confirm the demo account.');
}

function caller(baseUrl: string, headers: Record<string, string>): Call {
  return async (method, target, body) => {
    const response = await fetch(`${baseUrl}${target}`, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target} answered ${response.status}: ${text}`);
    return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
  };
}

/** Waits until the run has ended, no longer than this, and gives its state. */
async function stateAfter(call: Call, runId: string, patienceMs: number): Promise<string> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const { state } = runState.parse(await call('GET', `/v1/runs/${runId}`));
    if ((state !== 'queued' && state !== 'running') || Date.now() > end) return state;
    await sleep(200);
  }
}
