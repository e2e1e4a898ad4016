import { Agent, request } from 'undici';
import type { Service } from './service.ts';

/** The arrival of a step's event at one follower. */
export interface Heard {
  readonly runId: string;
  readonly index: number;
  readonly at: number;
}

export interface Followers {
  readonly count: number;
  /** The steps that its runs have been given so far. */
  steps: number;
  heard(): readonly Heard[];
  /** Forgets what was heard so far. */
  reset(): void;
  close(): Promise<void>;
}

/** Opens an event stream for each of these runs, on a connection of its own, and waits until each has begun. */
export async function followAll(
  { url, authorization }: Service,
  runIds: readonly string[],
): Promise<Followers> {
  const agent = new Agent({ connections: null, bodyTimeout: 0, headersTimeout: 60_000 });
  const gone = new AbortController();
  let heard: Heard[] = [];

  async function follow(runId: string): Promise<void> {
    const { statusCode, body } = await request(`${url}/v1/runs/${runId}/events`, {
      headers: { authorization, accept: 'text/event-stream' },
      dispatcher: agent,
      signal: gone.signal,
    });
    if (statusCode !== 200)
      throw new Error(`the stream responded with ${statusCode}: ${await body.text()}`);
    await new Promise<void>((resolve) => {
      body.on('error', () => undefined);
      body.on('data', (chunk: Buffer) => {
        const at = performance.now();
        const text = chunk.toString();
        if (text.includes('event: state')) resolve();
        // The id counts the steps that have been told.
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
