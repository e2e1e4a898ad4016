import pg from 'pg';
import { request, Agent } from 'undici';
import type { Service } from './service.ts';

export interface RunWatch {
  /** Resolves once the database shows that the run succeeded. Rejects if the run ended otherwise. */
  readonly succeeded: (runId: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Learns from Postgres when runs end: a trigger of the benchmark sends a notification at the commit. Polling would add
 * to the measured cost.
 */
export async function watchRuns({ databaseUrl }: Service): Promise<RunWatch> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(TRIGGER);
  await client.query('listen bench_run_ended');
  const waiters = new Map<string, (state: string) => void>();
  const early = new Map<string, string>();
  client.on('notification', ({ payload = '' }) => {
    const [id = '', state = ''] = payload.split(' ');
    const waiter = waiters.get(id);
    if (waiter === undefined) early.set(id, state);
    else waiter(state);
  });
  return {
    async succeeded(runId) {
      const state =
        early.get(runId) ??
        (await new Promise<string>((resolve) => {
          waiters.set(runId, resolve);
        }));
      early.delete(runId);
      waiters.delete(runId);
      if (state !== 'succeeded') throw new Error(`run ${runId} ended ${state}`);
    },
    stop: () => client.end(),
  };
}

const TRIGGER = `
  create or replace function bench_run_ended() returns trigger language plpgsql as $$
    begin
      perform pg_notify('bench_run_ended', new.id || ' ' || new.state);
      return null;
    end
  $$;
  create or replace trigger bench_run_ended after update of state on runs for each row
    when (old.state <> new.state and new.state in ('succeeded', 'failed', 'cancelled'))
    execute function bench_run_ended();
`;

/** Starts a manual run over HTTP and waits until the database shows that it succeeded. */
export async function runToSuccess({ url, authorization }: Service, watch: RunWatch, routineId: string): Promise<void> {
  const { statusCode, body } = await request(`${url}/v1/routines/${routineId}/run`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{}',
  });
  const text = await body.text();
  if (statusCode !== 202) throw new Error(`POST …/run responded with ${statusCode}: ${text}`);
  const { data } = JSON.parse(text) as { data: { id: string } };
  await watch.succeeded(data.id);
}

/** The arrival of a step's event at one follower. */
export interface Heard {
  readonly runId: string;
  readonly index: number;
  readonly at: number;
}

export interface Followers {
  readonly count: number;
  /** Number of steps that the runs have so far. */
  steps: number;
  heard(): readonly Heard[];
  /** Forgets the arrivals so far. */
  reset(): void;
  close(): Promise<void>;
}

/** Opens an event stream for each of these runs, on a connection of its own, and waits until each has begun. */
export async function followAll({ url, authorization }: Service, runIds: readonly string[]): Promise<Followers> {
  const agent = new Agent({ connections: null, bodyTimeout: 0, headersTimeout: 60_000 });
  const gone = new AbortController();
  let heard: Heard[] = [];

  async function follow(runId: string): Promise<void> {
    const { statusCode, body } = await request(`${url}/v1/runs/${runId}/events`, {
      headers: { authorization, accept: 'text/event-stream' },
      dispatcher: agent,
      signal: gone.signal,
    });
    if (statusCode !== 200) throw new Error(`the stream responded with ${statusCode}: ${await body.text()}`);
    await new Promise<void>((resolve) => {
      body.on('error', () => undefined);
      body.on('data', (chunk: Buffer) => {
        const at = performance.now();
        const text = chunk.toString();
        if (text.includes('event: state')) resolve();
        // The id counts the steps sent so far.
        for (const [, told] of text.matchAll(/^event: step\nid: (\d+)\./gm)) {
          heard.push({ runId, index: Number(told) - 1, at });
        }
      });
    });
  }

  const waiting = [...runIds];
  const openAll = async () => {
    for (let runId = waiting.pop(); runId !== undefined; runId = waiting.pop()) await follow(runId);
  };
  await Promise.all(Array.from({ length: 20 }, openAll));
  return {
    count: runIds.length,
    steps: 0,
    heard: () => heard,
    reset() {
      heard = [];
    },
    async close() {
      gone.abort();
      await agent.destroy();
    },
  };
}
