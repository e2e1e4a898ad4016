import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ACCOUNT, caller, createKey, enter, type Call, type Person } from '../demo/account.ts';
import { FIXTURE_MODEL, makeRoutines, markEarlierRead, modelsFor, type Model } from '../demo/make.ts';
import { markDemo, plantHistory, stateOfProject, withDatabase } from '../demo/plant.ts';
import { DEMO_ROUTINES, SITE_CHECK } from '../demo/routines.ts';
import type { Database } from '#lib/database/index.ts';
import type { DemoModel } from './models/find.ts';
import { elapsed } from './progress.ts';

const demoFile = z.object({
  email: z.string(),
  password: z.string(),
  /** The key of the demo's project, or of the person's own project if the demo has none. */
  apiKey: z.string(),
  /** Null until a start finds a model, and for an older demo without a project of its own. */
  projectId: z.string().nullable().default(null),
  /** The site check; null until a start finds a model, and after the demo was removed. */
  routineId: z.string().nullable(),
  otherRoutineIds: z.array(z.string()).default([]),
  /** True after a person has removed the demo, which is then not made again. */
  removed: z.boolean().default(false),
});

/**
 * The demo account of a local start. The data folder keeps its key, readable for its owner only, so that a later start
 * can show it.
 */
export type Demo = DemoFile & {
  /** Tells the user how to get the routines running; missing if they run by themselves. */
  readonly leftToDo?: string;
  /** Resolves with a sentence when the first run has ended; missing if none was started. Never rejects. */
  readonly firstRun?: Promise<string>;
};

interface SeedOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly uiOrigin: string;
  readonly toolServer: string;
  readonly mail: string;
  /** Undefined without a model; the account is made in any case. */
  readonly model: DemoModel | undefined;
}

/**
 * Creates the demo organization with a project of three routines and their past, or finds the one of an earlier start.
 * Starts the site check and activates the routines only if runs cost nothing.
 */
export async function seedDemo(baseUrl: string, options: SeedOptions): Promise<Demo> {
  const { databaseUrl, model } = options;
  const file = path.join(options.dataDir, 'demo.json');
  const kept = await keptDemo(baseUrl, file);
  if (kept?.routines !== undefined) return lookAfter(kept.call, kept.demo, kept.routines, model);
  if (kept?.isReached === true) {
    if (kept.demo.removed) return { ...kept.demo, leftToDo: REMOVED };
    if (model === undefined) return { ...kept.demo, leftToDo: NO_MODEL };
  }
  const person = await enter(baseUrl, options);
  return withDatabase(databaseUrl, async (database) => {
    const earlier = kept?.demo.projectId ?? null;
    const state = earlier === null ? 'absent' : await stateOfProject(database, earlier);
    const keep: Keep = (fields) => {
      const { email, password } = ACCOUNT;
      const none = { projectId: null, routineId: null, otherRoutineIds: [], removed: false };
      const demo = { email, password, ...none, ...fields };
      writeFileSync(file, JSON.stringify(demo, null, 2), { mode: 0o600 });
      return demo;
    };
    if (state === 'deleted' || model === undefined) {
      const apiKey = await createKey(person.inProject(person.own.id));
      return state === 'deleted'
        ? { ...keep({ apiKey, projectId: earlier, removed: true }), leftToDo: REMOVED }
        : { ...keep({ apiKey }), leftToDo: NO_MODEL };
    }
    const projectId = earlier !== null && state === 'there' ? earlier : await createProject(person);
    const call = person.inProject(projectId);
    const apiKey = await createKey(call);
    if (kept?.isReached === false && state === 'there' && kept.demo.routineId !== null) {
      // Keep the demo, which still exists, with a new key: a person has revoked the old one.
      keep({ ...kept.demo, apiKey });
      return seedDemo(baseUrl, options);
    }
    // Store the project now, so that the next start continues with it if this one is interrupted.
    keep({ apiKey, projectId });
    await markDemo(database, projectId);
    return makeDemo(call, database, { ...options, model }, (ids) => keep({ apiKey, projectId, ...ids }));
  });
}

const REMOVED = 'The demo was removed; `npm start -- --fresh` makes a new one.';
const NO_MODEL = 'The demo is made by the next start with a model.';

type DemoFile = z.output<typeof demoFile>;
/** Stores the facts that the next start needs. A field that is left out is stored as null, empty or false. */
type Keep = (fields: Partial<DemoFile> & Pick<DemoFile, 'apiKey'>) => DemoFile;

/** Makes the routines with their past, and lets them run if runs cost nothing. */
async function makeDemo(
  call: Call,
  database: Database,
  { model, toolServer }: SeedOptions & { readonly model: DemoModel },
  keep: (ids: Pick<DemoFile, 'routineId' | 'otherRoutineIds'>) => DemoFile,
): Promise<Demo> {
  const modelOf = await modelsFor(call, model);
  const routines = await makeRoutines(call, toolServer, modelOf);
  const past = await plantHistory(database, routines, { now: new Date(), proven: model.isFree });
  await markEarlierRead(call, routines, past);
  // The site check is made last, so lists show it first.
  const [siteCheck = '', ...otherRoutineIds] = routines.map(({ id }) => id).toReversed();
  const demo = keep({ routineId: siteCheck, otherRoutineIds });
  if (!model.isFree) {
    const names = routines.map((routine) => routine.demo.body.name).toReversed();
    return { ...demo, leftToDo: runIt(names, modelOf(SITE_CHECK).modelId) };
  }
  for (const id of otherRoutineIds) await activate(call, id);
  return { ...demo, ...(await startFirstRun(call, [siteCheck])) };
}

async function createProject({ call, own }: Person): Promise<string> {
  const body = { organizationId: own.organizationId, name: 'Demo' };
  return z.object({ id: z.string() }).parse(await call('POST', '/v1/projects', body)).id;
}

const routineBody = z.object({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  model: z.object({ modelId: z.string() }),
});
type Routine = z.output<typeof routineBody>;

/**
 * Returns the demo of an earlier start with two facts: whether its key works, and its routines if the site check still
 * exists.
 */
async function keptDemo(baseUrl: string, file: string) {
  if (!existsSync(file)) return undefined;
  const demo = demoFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  const headers = { Authorization: `Bearer ${demo.apiKey}` };
  const response = await fetch(`${baseUrl}/v1/routines?limit=1`, { headers });
  await response.body?.cancel();
  const call = caller(baseUrl, headers);
  const isReached = response.ok;
  if (!isReached || demo.routineId === null) return { demo, isReached, call, routines: undefined };
  const found = await Promise.all(
    [demo.routineId, ...demo.otherRoutineIds].map((id) =>
      call('GET', `/v1/routines/${id}`).then(
        (body) => [routineBody.parse(body)],
        () => [],
      ),
    ),
  );
  return { demo, isReached, call, routines: found[0]?.length === 0 ? undefined : found.flat() };
}

/** Says what the routines of an earlier start need, and moves those on the fixture to a model that was found later. */
async function lookAfter(
  call: Call,
  demo: DemoFile,
  routines: readonly Routine[],
  model: DemoModel | undefined,
): Promise<Demo> {
  const isOutdated = model !== undefined && !model.modelIds.includes(FIXTURE_MODEL);
  // Move only routines with a fixture model: a routine to which a person gave another model keeps it.
  const ofFixture = new Set(DEMO_ROUTINES.map(({ fixtureModel }) => fixtureModel));
  const moved = routines.filter((routine) => isOutdated && ofFixture.has(routine.model.modelId));
  const names = ({ name }: Routine) => name;
  if (model === undefined || moved.length === 0) {
    const drafts = routines.filter(({ state }) => state === 'draft').map(names);
    return drafts.length === 0 ? demo : { ...demo, leftToDo: runIt(drafts) };
  }
  const modelOf = await modelsFor(call, model);
  const { provider, connectionId, modelId }: Model = modelOf(SITE_CHECK);
  const reference = { provider, connectionId, modelId };
  for (const { id } of moved) await call('PATCH', `/v1/routines/${id}`, { model: reference });
  if (!model.isFree) return { ...demo, leftToDo: runIt(moved.map(names), modelId) };
  return {
    ...demo,
    ...(await startFirstRun(
      call,
      moved.map(({ id }) => id),
    )),
  };
}

/** Says how drafts can run by themselves. */
function runIt(names: readonly string[], modelId?: string): string {
  const why = modelId === undefined ? '' : `, as a run on ${modelId} may cost money`;
  const quoted = new Intl.ListFormat('en-GB').format(names.map((name) => `"${name}"`));
  const [are, page] = names.length === 1 ? ['is a draft', 'its page'] : ['are drafts', 'the page of each'];
  return `${quoted} ${are}${why}: press "Run now" on ${page}, and activate it once that has succeeded.`;
}

async function activate(call: Call, routineId: string): Promise<void> {
  // Ignore a refusal, as a plan may allow fewer active routines: the routine stays a draft, and its page shows the
  // reason.
  await call('POST', `/v1/routines/${routineId}/activate`, {}).catch(() => undefined);
}

/** Starts a run of each routine, and activates the routines whose runs succeed. */
async function startFirstRun(
  call: Call,
  routineIds: readonly string[],
): Promise<Required<Pick<Demo, 'leftToDo' | 'firstRun'>>> {
  const name = `The first run of "${SITE_CHECK.body.name}"`;
  const runs: string[] = [];
  for (const id of routineIds) {
    const run = z.object({ id: z.string() }).parse(await call('POST', `/v1/routines/${id}/run`, {}));
    runs.push(run.id);
  }
  return {
    leftToDo: `${name} is under way; its end is told below.`,
    firstRun: Promise.all(
      routineIds.map((routineId, index) => followRun(call, name, { routineId, runId: runs[index] ?? '' })),
    ).then(([told = '']) => told),
  };
}

const runState = z.object({ state: z.string(), errorMessage: z.string().nullable() });

async function followRun(
  call: Call,
  name: string,
  { routineId, runId }: { readonly routineId: string; readonly runId: string },
): Promise<string> {
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
