import { endCall, loadModelProviders } from '#core/model-connections/index.ts';
import { createModelRuntime } from '#core/model-connections/runtime/runtime.ts';
import { createAccountCaller } from '#core/steps/index.ts';
import { FIXTURE_KEY } from '#dev/providers/server.ts';
import { loadConfig } from '#lib/config/index.ts';
import { execute, openDatabase, sql } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { createRig } from '#test/runtime/rig.ts';
import { storedDefinition } from './bulk.ts';
import type { Stack } from './stack.ts';

const MODEL = 'fixture/account-small';
/** Calls of one bench at most: each is of a step that awaits its response. */
const MAX_CALLS = 10_000;

/** One account at a fixture provider, with a runtime as a process of its own and what issues its calls. */
export interface Accounts {
  /** Makes one model call on the account: issued, made and ended. */
  call(): Promise<void>;
  stop(): Promise<void>;
}

export async function startAccounts(stack: Stack): Promise<Accounts> {
  const rig = await createRig();
  const runtimeProcess = await rig.spawn().catch(async (error: unknown) => {
    await rig.close();
    throw error;
  });
  const database = openDatabase({
    url: await stack.createDatabase(),
    poolSize: 10,
    applicationName: 'bench',
  });
  const log = createLog({ level: 'silent', name: 'bench' });
  const modelProviders = loadModelProviders(loadConfig('runtime', rig.env));
  const modelRuntime = createModelRuntime({ database, client: rig.client(runtimeProcess.port) });
  const { identity } = modelProviders.require('provider-a');
  await plant(database, identity);
  const caller = createAccountCaller({
    database,
    modelProviders,
    modelRuntime,
    modelCredentials: {
      forCall: async () => ({ credential: { value: FIXTURE_KEY, account: null }, version: 1 }),
      refused: async () => undefined,
    },
    log,
    timeoutMs: 60_000,
  });
  let index = 0;
  return {
    async call() {
      const response = await caller.call({
        modelId: MODEL,
        served: null,
        instructions: 'You are careful.',
        messages: [{ role: 'user', content: 'Write the weekly report.' }],
        tools: {},
        signal: new AbortController().signal,
        account: {
          provider: 'provider-a',
          connection: { id: 'mcn_bench', projectId: 'prj_bench' },
          runId: 'run_bench',
          index: index++,
          tools: [],
          remainingMs: 60_000,
        },
      });
      if (response.call !== undefined) await endCall(database, response.call, 'failed', 'bench');
    },
    async stop() {
      await rig.close();
      await database.end();
    },
  };
}

/** An account and a run on it, with as little around them as the tables demand. */
async function plant(database: Parameters<typeof execute>[0], identity: string): Promise<void> {
  const definition = storedDefinition({
    instructions: 'x',
    model: { provider: 'provider-a', connectionId: null, modelId: MODEL },
    limits: { maxSteps: 5, timeoutSeconds: 60 },
  });
  await execute(
    database,
    sql`
      with person as (
        insert into users (id, name, email, email_verified) values ('bench', 'Bench', 'bench@example.com', true)
      ), organization as (
        insert into organizations (id, name) values ('org_bench', 'Bench')
      ), member as (
        insert into memberships (organization_id, user_id, role) values ('org_bench', 'bench', 'owner')
      ), project as (
        insert into projects (id, organization_id, name) values ('prj_bench', 'org_bench', 'Bench')
      ), routine as (
        insert into routines (id, project_id, name, definition, schedule, timezone)
        values ('rtn_bench', 'prj_bench', 'Bench', ${definition}, '@daily', 'UTC')
      ), run as (
        insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
          timeout_seconds)
        values ('run_bench', 'org_bench', 'prj_bench', 'rtn_bench', 1, 'manual', 'running', 5, 60)
      ), steps as (
        insert into steps (run_id, index, project_id, kind, state, model_id)
        select 'run_bench', index, 'prj_bench', 'model', 'started', ${MODEL} from generate_series(0, ${MAX_CALLS}) index
      )
      insert into model_connections (id, project_id, owner_id, provider, provider_name, provider_identity,
        account_label, state, credential)
      values ('mcn_bench', 'prj_bench', 'bench', 'provider-a', 'Bench', ${identity}, 'bench', 'ready', 'none')
    `,
  );
}
