import { openDatabase, type Database, type Db } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import type { Cluster } from './cluster.ts';
import { emptyLedger, kindOf, KINDS, type Kind, type Ledger } from './ledger.ts';
import { countOpenRuns } from './open-runs.ts';
import { countModelCalls, RUN_MARK, type ModelCalls } from './model-calls.ts';
import { between } from './random.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { startRuns } from './run-client.ts';
import { keepTicking, plantOccurrences } from './schedule.ts';
import { startTools, type LoadTools } from './tools.ts';

export interface Load {
  readonly ledger: Ledger;
  readonly database: Database;
  readonly receiver: Receiver;
  readonly modelCalls: ModelCalls;
  readonly tools: LoadTools;
  /** Returns the most open runs that were counted at a time. */
  readonly mostOpenRuns: () => number;
  /** Stops new work, and resolves when every request has its response. Ticks continue until `close`. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The data for the invariants. The database may be a transaction that no process of the cluster sees. */
export type Evidence = Pick<Load, 'ledger' | 'receiver' | 'modelCalls' | 'tools'> & { readonly database: Db };

export interface LoadOptions {
  readonly random: () => number;
  /** Number of clients that start one manual run after another. */
  readonly clients: number;
  readonly routinesOfEachKind: number;
}

/** Starts manual runs, scheduled occurrences, ticks and webhook deliveries, until `finish` is called. */
export async function startLoad(cluster: Cluster, options: LoadOptions): Promise<Load> {
  const { random } = options;
  const ledger = emptyLedger();
  const receiver = await startReceiver(() => between(random, 0, 200));
  const modelCalls = countModelCalls(cluster.gateway);
  cluster.gateway.control.script(
    { marker: KINDS.slow.orders, times: null, latencyMs: 1_500 },
    { marker: 'CALL ', times: null, latencyMs: 200, behaviour: { kind: 'obey' } },
    { times: null, latencyMs: 100 },
  );
  const person = await signUp({
    url: cluster.apiUrls[0]!,
    config: { UI_ORIGIN: cluster.uiOrigin },
  });
  const key = await person.key();
  const tools = await startTools(key);
  await createRoutines(key, { ...options, ledger, tools, webhookUrl: receiver.url });

  const database = openDatabase({
    url: cluster.databaseUrl,
    poolSize: 4,
    applicationName: 'load',
  });
  const [work, ticks] = [new AbortController(), new AbortController()];
  const client = { apiUrls: cluster.apiUrls, headers: key.headers, ledger, random };
  const working = Promise.all([
    ...Array.from({ length: options.clients }, () => startRuns(client, work.signal)),
    plantOccurrences({ database, ledger, random }, work.signal),
  ]);
  const ticking = keepTicking(cluster, ticks.signal);
  const open = countOpenRuns(database);

  return {
    ledger,
    database,
    receiver,
    modelCalls,
    tools,
    mostOpenRuns: () => open.most,
    async finish() {
      work.abort();
      await working;
    },
    async close() {
      work.abort();
      ticks.abort();
      await ticking;
      modelCalls.stop();
      open.stop();
      await tools.close();
      await receiver.close();
      await database.end();
    },
  };
}

/** Creates routines of every kind, each with the proof run that its activation needs. */
async function createRoutines(
  key: ApiClient,
  options: LoadOptions & { ledger: Ledger; tools: LoadTools; webhookUrl: string },
): Promise<void> {
  const { ledger, tools, webhookUrl } = options;
  for (const [kind, { orders }] of Object.entries(KINDS)) {
    for (let count = 0; count < options.routinesOfEachKind; count += 1) {
      const id = await createRoutine(key, {
        name: `${kind} ${count}`,
        instructions: `Write one line.\n${RUN_MARK}\n${orders}`,
        // The schedule is not due during the test; occurrences are planted.
        schedule: '0 0 29 2 *',
        overlap: count % 2 === 0 ? 'allow' : 'skip',
        pauseAfterFailures: 1_000,
        // No run comes near the limit, but with a limit each step reserves before it calls.
        ...(count % 2 === 0 ? { budget: { maxTokensPerDay: 1_000_000_000 } } : {}),
        // If results were carried, a model that obeys every text would repeat the calls of the previous run.
        carryResult: false,
        webhookUrl,
      });
      ledger.kinds.set(id, kind as Kind);
      const { tool } = kindOf(ledger, id);
      if (tool !== undefined) await tools.confirm(id, tool.name);
    }
  }
  const activate = async (id: string) => {
    const { data: proof } = await key.post(`/v1/routines/${id}/run`);
    ledger.accepted.push({ id: proof.id, key: `proof of ${id}` });
    await runEnded(key, proof.id);
    const { status, body } = await key.post(`/v1/routines/${id}/activate`);
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  await Promise.all([...ledger.kinds.keys()].map(activate));
}
