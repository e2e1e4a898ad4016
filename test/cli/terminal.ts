import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { main } from '../../cli/src/main.ts';
import { Interrupted, type World } from '../../cli/src/world.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Parsed JSON of stdout, of any type. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  readonly json: any;
}

export interface TerminalOptions {
  /** True if people read the output. Default false: it is piped. */
  readonly isTerminal?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Keys to press, one list after another, each when stderr contains the question. */
  readonly answers?: readonly (readonly [question: string, keys: string])[];
  readonly fetch?: typeof globalThis.fetch;
  /** Presses Ctrl-C when stderr contains this text. */
  readonly interruptAt?: string;
  /** Runs in every pause. The pause lasts until it has resolved. */
  readonly whilePaused?: () => Promise<unknown>;
  /** Receives each line of stderr as it is written. */
  readonly onWords?: (text: string) => void;
}

/** A user at a machine with a home of its own, who runs `ras` in this process. */
export class Terminal {
  readonly home: string;
  /** Addresses that the command opened in the browser. */
  readonly opened: string[] = [];
  /** Milliseconds of each pause. No time passes. */
  readonly pauses: number[] = [];
  #clockMs = Date.now();

  constructor(home: string) {
    this.home = home;
  }

  async run(args: readonly string[], options: TerminalOptions = {}): Promise<Outcome> {
    const { isTerminal = false, columns = 200, env = {}, stdin, interruptAt, onWords } = options;
    const interrupt = new AbortController();
    const answers = [...(options.answers ?? [])];
    const input: World['stdin'] = Object.assign(new PassThrough(), {
      isTTY: isTerminal && stdin === undefined,
      setRawMode: () => input,
    });
    if (stdin !== undefined) input.push(stdin);
    if (answers.length === 0) input.push(null);
    const stdout = sink({ isTerminal, columns });
    const stderr = sink({
      isTerminal,
      columns,
      onText: (all) => {
        onWords?.(all);
        if (interruptAt !== undefined && all.includes(interruptAt)) {
          interrupt.abort(new Interrupted());
        }
        const [question, keys] = answers[0] ?? [];
        if (question === undefined || !all.includes(question)) return;
        answers.shift();
        // The question accepts keys only after it was printed.
        setImmediate(() => input.push(keys));
      },
    });
    const code = await main(args, {
      stdin: input,
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: { HOME: this.home, ...env },
      cwd: this.home,
      fetch: options.fetch ?? globalThis.fetch,
      openBrowser: async (url) => this.opened.push(url) > 0,
      interrupted: () => interrupt.signal,
      now: () => this.#clockMs,
      pause: async (ms, signal) => {
        signal?.throwIfAborted();
        await options.whilePaused?.();
        this.pauses.push(ms);
        this.#clockMs += ms;
      },
    });
    const text = stdout.text();
    return {
      code,
      stdout: text,
      stderr: stderr.text(),
      get json() {
        return JSON.parse(text);
      },
    };
  }
}

/** Makes a terminal whose home folder is removed after the test. */
export async function terminal(): Promise<Terminal> {
  const home = await mkdtemp(path.join(tmpdir(), 'ras-home-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return new Terminal(home);
}

/** Returns the environment variables for a service and a key. */
export function environmentOf({ baseUrl, headers }: ApiClient): Record<string, string> {
  return { RAS_API_URL: baseUrl, RAS_API_KEY: keyOf({ headers }) };
}

export function keyOf({ headers }: Pick<ApiClient, 'headers'>): string {
  return headers['Authorization']!.replace('Bearer ', '');
}

function sink({
  isTerminal,
  columns,
  onText,
}: {
  isTerminal: boolean;
  columns: number;
  onText?: (all: string) => void;
}) {
  let all = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      all += String(chunk);
      onText?.(all);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY: isTerminal, columns }), text: () => all };
}
