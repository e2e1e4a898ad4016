import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a command meets of the machine; tests give their own. */
export interface World {
  readonly stdin: AsyncIterable<Buffer | string> & { readonly isTTY?: boolean | undefined };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  /** Starts the user's browser at an address; false where there is none. */
  openBrowser(url: string): Promise<boolean>;
  /** Aborts at Ctrl-C, which from the first call on leaves the end of the process to the command. */
  interrupted(): AbortSignal;
}

export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Makes the world of this process. */
export function worldOfProcess(): World {
  let interrupt: AbortController | undefined;
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    // oxlint-disable-next-line node/no-process-env -- the one place of the CLI that reads it
    env: process.env,
    cwd: process.cwd(),
    fetch: globalThis.fetch,
    openBrowser,
    interrupted() {
      if (interrupt === undefined) {
        const made = (interrupt = new AbortController());
        // A second Ctrl-C ends the process at once.
        process.once('SIGINT', () => made.abort(new Interrupted()));
      }
      return interrupt.signal;
    },
  };
}

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // No shell reads the address, as `cmd /c start` would.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

async function openBrowser(url: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  child.unref();
  return once(child, 'spawn').then(
    () => true,
    () => false,
  );
}
