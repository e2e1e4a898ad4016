import { setTimeout as sleep } from 'node:timers/promises';

import { commandLine, exists, parentOf } from './processes.ts';

/**
 * Runs `stop` once and then exits: on Ctrl-C, SIGTERM, SIGHUP, and when the `npm` that started us has ended (a signal
 * to npm alone may not reach us). A second Ctrl-C after a second exits at once and leaves the children to the watchdog.
 */
export function stopOnSignals(stop: () => Promise<void>): void {
  let firstAt: number | undefined;
  const handle = (): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
      // npm passes on the Ctrl-C that the terminal has already sent to us, so a repeat within a second does not count.
    } else if (Date.now() - firstAt > 1_000) process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle);
  void whenNpmIsGone().then(handle);
}

/** Resolves when the npm process that runs this script has ended; never resolves without npm. */
async function whenNpmIsGone(): Promise<void> {
  if (process.env['npm_lifecycle_event'] === undefined) return new Promise(() => {});
  const parent = process.ppid;
  // Find npm behind the shell in which it runs a script: some shells stay between, and some are replaced by the script.
  const shell = /^(?:\S*\/)?(?:ba|da|z|k)?sh\b/.test(commandLine(parent) ?? '');
  const npm = (shell ? parentOf(parent) : undefined) ?? parent;
  while (process.ppid === parent && exists(npm)) await sleep(1_000, undefined, { ref: false });
}
