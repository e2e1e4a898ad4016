import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** The parts of the machine that a command uses; tests replace them. */
export interface World {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  /** Opens an address in the user's browser; false without a browser. */
  openBrowser(url: string): Promise<boolean>;
  /** Aborts at Ctrl-C. From the first use on, the command ends the process itself. */
  interrupted(): AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after this time; rejects when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export type Sink = Writable & {
  readonly isTTY?: boolean | undefined;
  /** Zero when the terminal does not report its width. */
  readonly columns?: number | undefined;
};

/** Options of every command. */
export interface GlobalOptions {
  readonly json?: boolean | undefined;
  readonly text?: boolean | undefined;
  /** Paths of the fields to write as JSON; undefined for all fields. */
  readonly fields?: readonly string[] | undefined;
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
  // No shell parses the address, as `cmd /c start` would.
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
