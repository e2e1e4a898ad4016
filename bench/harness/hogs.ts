import path from 'node:path';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';

const SCRIPT = path.resolve(import.meta.dirname, 'endless-hog.ts');
export const HOGS = ['forks', 'writes', 'allocates'] as const;

export interface Hog {
  /** Returns how often it has ended by itself, and was started again. */
  ended(): number;
  stop(): Promise<void>;
}

/** Starts a session that does this without end, in the sandbox that model sessions have. */
export function startHog(kind: (typeof HOGS)[number]): Hog {
  const sandbox = createSandbox('bubblewrap');
  const stopping = new AbortController();
  let ended = 0;
  let kill = () => undefined as void;
  const keep = async () => {
    while (!stopping.signal.aborted) {
      const socketPath = sandbox.socketPath();
      const broker = await startBroker(socketPath);
      const session = sandbox.launch(SCRIPT, socketPath, [kind]);
      kill = () => session.kill();
      session.stdout.resume();
      session.stderr.resume();
      await session.exited;
      await broker.close();
      if (!stopping.signal.aborted) ended += 1;
    }
  };
  const kept = keep();
  return {
    ended: () => ended,
    async stop() {
      stopping.abort();
      kill();
      await kept;
      sandbox.close();
    },
  };
}
