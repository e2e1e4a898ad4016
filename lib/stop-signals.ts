import type { Log } from './log.ts';

/** Calls `stop` at the first SIGTERM or SIGINT, and ignores later ones. */
export function onStopSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'stopping');
      void stop();
    });
  }
}
