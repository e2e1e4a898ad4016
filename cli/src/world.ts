import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a command meets of the machine; tests give their own. */
export interface World {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  /** Starts the user's browser at an address; false where there is none. */
  openBrowser(url: string): Promise<boolean>;
  /** Aborts at Ctrl-C, which from the first call on leaves the end of the process to the command. */
  interrupted(): AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after this time; rejects when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export type Sink = Writable & {
  readonly isTTY?: boolean | undefined;
  /** Zero for a terminal that does not say it. */
  readonly columns?: number | undefined;
};

/** The options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean | undefined;
  readonly profile?: string | undefined;
  readonly apiUrl?: string | undefined;
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
    now: Date.now,
    async pause(ms, signal) {
      await sleep(ms, undefined, { signal }).catch((error: unknown) => {
        throw signal?.aborted === true ? signal.reason : error;
      });
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
