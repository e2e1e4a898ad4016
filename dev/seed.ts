import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { DemoModel } from './models/find.ts';
import { elapsed } from './progress.ts';

const demoFile = z.object({
  email: z.string(),
  password: z.string(),
  apiKey: z.string(),
  /** Null until a start finds a model for it. */
  routineId: z.string().nullable(),
});

/** The demo account of a local start. Its key is kept in the data folder, for its owner only, to be shown again. */
export type Demo = z.output<typeof demoFile> & {
  /** Says what the user can do about the routine, or wait for; absent when it runs by itself. */
  readonly leftToDo?: string;
  /** Resolves with a sentence when the first run has ended; absent when none was started. Never rejects. */
  readonly firstRun?: Promise<string>;
};

const ACCOUNT = { email: 'demo@example.com', password: 'demo-password', name: 'Demo' };

interface SeedOptions {
  readonly dataDir: string;
  readonly uiOrigin: string;
  readonly toolServer: string;
  readonly mail: string;
  /** Undefined where there is none; the account is made in any case. */
  readonly model: DemoModel | undefined;
}

/**
 * Creates the demo organization with one routine through the public API, as a user would, or finds that of an earlier
 * start. The routine is run, and then activated, only where that costs nothing.
 */
export async function seedDemo(
  baseUrl: string,
  { dataDir, uiOrigin, toolServer, mail, model }: SeedOptions,
): Promise<Demo> {
  const file = path.join(dataDir, 'demo.json');
  const kept = await keptDemo(baseUrl, file);
  // The model of a routine that a person has edited stays as it is.
  const isOfFixture = kept?.routine?.model.modelId === FIXTURE_MODEL;
  const isOutdated = isOfFixture && model !== undefined && !model.modelIds.includes(FIXTURE_MODEL);
  if (kept?.routine !== undefined && !isOutdated) {
    return { ...kept.demo, ...(kept.routine.state === 'draft' ? { leftToDo: runIt() } : {}) };
  }
  const apiKey = kept?.demo.apiKey ?? (await createKey(baseUrl, { uiOrigin, mail }));
  const call = caller(baseUrl, { Authorization: `Bearer ${apiKey}` });
  const { email, password } = ACCOUNT;
  const keep = (routineId: string | null) => {
    const demo = { email, password, apiKey, routineId };
    writeFileSync(file, JSON.stringify(demo, null, 2), { mode: 0o600 });
    return demo;
  };
  if (model === undefined) {
    return { ...keep(null), leftToDo: 'The demo routine is made by the next start with a model.' };
  }
  const models = modelList.parse(await call('GET', '/v1/models'));
  const chosen = models.find(({ modelId }) => model.modelIds.includes(modelId)) ?? models[0];
  let routineId: string;
  if (kept?.routine === undefined) {
    const made = { ...DEMO_ROUTINE, model: chosen };
    ({ id: routineId } = withId.parse(await call('POST', '/v1/routines', made)));
    await giveTool(call, routineId, toolServer);
  } else {
    routineId = kept.routine.id;
    await call('PATCH', `/v1/routines/${routineId}`, { model: chosen });
  }
  const demo = keep(routineId);
  if (!model.isFree) return { ...demo, leftToDo: runIt(chosen?.modelId) };
  const { id: runId } = withId.parse(await call('POST', `/v1/routines/${routineId}/run`, {}));
  return {
    ...demo,
    leftToDo: `The first run of "${DEMO_ROUTINE.name}" is under way; its end is told below.`,
    firstRun: followFirstRun(call, { routineId, runId }),
  };
}

async function createKey(
  baseUrl: string,
  { uiOrigin, mail }: { uiOrigin: string; mail: string },
): Promise<string> {
  const cookie = await signIn(baseUrl, { uiOrigin, mail });
  const call = caller(baseUrl, { Cookie: cookie, Origin: uiOrigin });
  const scopes = [
    'models:read',
    ...['routines', 'runs', 'connections'].flatMap((subject) => [
      `${subject}:read`,
      `${subject}:write`,
    ]),
  ];
  return createdKey.parse(await call('POST', '/v1/api-keys', { name: 'demo', scopes })).key;
}

/** Returns the demo of an earlier start while its key works, with its routine while that is there. */
async function keptDemo(baseUrl: string, file: string) {
  if (!existsSync(file)) return undefined;
  const demo = demoFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  const read = (target: string) =>
    fetch(`${baseUrl}${target}`, { headers: { Authorization: `Bearer ${demo.apiKey}` } });
  const list = await read('/v1/routines?limit=1');
  await list.body?.cancel();
  if (!list.ok) return undefined;
  const response = await read(`/v1/routines/${demo.routineId ?? 'none'}`);
  const body: unknown = await response.json();
  const routine = response.ok ? routineBody.parse(body).data : undefined;
  return { demo, routine };
}

const routineBody = z.object({
  data: z.object({ id: z.string(), state: z.string(), model: z.object({ modelId: z.string() }) }),
});

/** Says what makes a draft run by itself. */
function runIt(modelId?: string): string {
  const why = modelId === undefined ? '' : `, as a run on ${modelId} may cost money`;
  return `"${DEMO_ROUTINE.name}" is a draft${why}: press "Run now" on its page, and activate it once that has succeeded.`;
}

async function followFirstRun(
  call: Call,
  { routineId, runId }: { routineId: string; runId: string },
): Promise<string> {
  const name = `The first run of "${DEMO_ROUTINE.name}"`;
  const startedAt = Date.now();
  try {
    for (;;) {
      const run = runState.parse(await call('GET', `/v1/runs/${runId}`));
      if (run.state === 'succeeded') break;
      if (run.state !== 'queued' && run.state !== 'running') {
        return `${name} ended ${run.state}: ${run.errorMessage ?? 'its page says why.'}`;
      }
      await sleep(200);
    }
    await call('POST', `/v1/routines/${routineId}/activate`, {});
    return `${name} succeeded after ${elapsed(startedAt)}; the routine is active and runs each day.`;
  } catch (error) {
    return `${name} could not be followed: ${error instanceof Error ? error.message : String(error)}`;
  }
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
const runState = z.object({ state: z.string(), errorMessage: z.string().nullable() });

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
