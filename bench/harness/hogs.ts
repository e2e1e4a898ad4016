import path from 'node:path';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';

const SCRIPT = path.resolve(import.meta.dirname, 'endless-hog.ts');
const HOGS = ['forks', 'writes', 'allocates'];

/** Sessions that fork, write and allocate without end, side by side, in the sandbox that model sessions have. */
export function startHogs(): { ended(): number; stop(): Promise<void> } {
  const sandbox = createSandbox('bubblewrap');
  const stopping = new AbortController();
  let ended = 0;
  const kills = new Set<() => void>();
  const keep = async (hog: string) => {
    while (!stopping.signal.aborted) {
      const socketPath = sandbox.socketPath();
      const broker = await startBroker(socketPath);
      const session = sandbox.launch(SCRIPT, socketPath, [hog]);
      const kill = () => session.kill();
      kills.add(kill);
      session.stdout.resume();
      session.stderr.resume();
      await session.exited;
      kills.delete(kill);
      await broker.close();
      if (!stopping.signal.aborted) ended += 1;
    }
  };
  const kept = HOGS.map((hog) => keep(hog));
  return {
    ended: () => ended,
    async stop() {
      stopping.abort();
      for (const kill of kills) kill();
      await Promise.all(kept);
      sandbox.close();
    },
  };
}
