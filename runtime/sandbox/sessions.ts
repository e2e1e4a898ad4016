import { rm } from 'node:fs/promises';
import type { Protocol } from '#lib/provider-file/index.ts';
import { startBroker, type Broker, type BrokerJob } from './broker.ts';
import type { Sandbox, SandboxedProcess } from './sandbox.ts';
import { sessionScript } from './session-script.ts';

/** A started session that waits for its one job. */
interface Waiting {
  readonly process: SandboxedProcess;
  readonly broker: Broker;
  readonly socketPath: string;
}

export interface SessionOutcome {
  /** Output of the session; undefined when it was too long. */
  readonly output: string | undefined;
  /** Failure of the provider that the session's broker saw. */
  readonly failure: ReturnType<Broker['failure']>;
}

export interface Sessions {
  /** Runs one job in a session of its own. Aborting the job's signal kills the session. */
  run(input: string, job: BrokerJob): Promise<SessionOutcome>;
  close(): Promise<void>;
}

export interface SessionsSettings {
  /** Number of sessions that wait for a job. */
  readonly ahead: number;
  /** Protocols to prepare sessions for. */
  readonly protocols: readonly Protocol[];
  readonly maxOutputBytes: number;
}

const RESTART_MS = 1_000;

/**
 * Keeps started sessions ready, so that no step waits for the model library, whose loading costs a quarter of a second
 * of CPU. Each session serves one job.
 */
export function createSessions(sandbox: Sandbox, { ahead, protocols, maxOutputBytes }: SessionsSettings): Sessions {
  const script = sessionScript();
  const waiting: Promise<Waiting>[] = [];
  const ending = new Set<Promise<void>>();
  let closed = false;

  const start = async (): Promise<Waiting> => {
    const socketPath = sandbox.socketPath();
    const broker = await startBroker(socketPath);
    return { broker, socketPath, process: sandbox.launch(script, socketPath, protocols) };
  };
  const discard = async ({ process, broker, socketPath }: Waiting): Promise<void> => {
    process.kill();
    await Promise.all([process.exited, broker.close()]);
    await rm(socketPath, { force: true });
  };
  const fill = () => {
    if (closed) return;
    while (waiting.length < ahead) {
      const next = start();
      waiting.push(next);
      void watch(next);
    }
  };
  // A session that ends without a job is replaced, but not in a tight loop.
  const watch = async (next: Promise<Waiting>): Promise<void> => {
    const session = await next.catch(() => undefined);
    await session?.process.exited;
    const index = waiting.indexOf(next);
    if (index === -1) return;
    void waiting.splice(index, 1);
    if (session !== undefined) await discard(session);
    setTimeout(fill, RESTART_MS).unref();
  };
  const endOf = async (session: Waiting): Promise<void> => {
    await discard(session);
    fill();
  };
  fill();

  return {
    async run(input, job) {
      const session = await (waiting.shift() ?? start());
      const { process, broker } = session;
      const abort = () => process.kill();
      job.signal.addEventListener('abort', abort, { once: true });
      try {
        if (job.signal.aborted) abort();
        broker.assign(job);
        process.stdin.end(input);
        process.stderr.resume();
        const output = await readLine(process, maxOutputBytes);
        return { output, failure: broker.failure() };
      } finally {
        job.signal.removeEventListener('abort', abort);
        // The response waits neither for the end of this process nor for the start of the next.
        const end = endOf(session);
        ending.add(end);
        void end.finally(() => ending.delete(end));
      }
    },
    async close() {
      closed = true;
      await Promise.all(ending);
      await Promise.all(
        waiting.splice(0).map(async (each) => {
          const session = await each.catch(() => undefined);
          if (session !== undefined) await discard(session);
        }),
      );
    },
  };
}

async function readLine(session: SandboxedProcess, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of session.stdout as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
    if (chunk.includes('\n')) break;
  }
  return Buffer.concat(chunks).toString('utf8').split('\n')[0];
}
