import { spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';

import { identify, killGroup, stopProcess } from './processes.ts';
import type { ProcessIdentity, StopOptions } from './processes.ts';

/** Prints progress and remarks for the user, a line at a time. */
export type Log = (message: string) => void;

export interface ChildOptions {
  /** Name for people: "Postgres", "API". */
  name: string;
  command: string;
  args: readonly string[];
  /** The file that the output is appended to. Without it the output goes to our own terminal. */
  logFile?: string;
  /** Signal that ends the process, and the wait before SIGKILL. By default SIGTERM and 5 s. */
  stop?: StopOptions;
  /** While this returns true, the end of the child is not reported: the code that started the child handles it. */
  isStarting?: () => boolean;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  name: string;
  pid: number;
  /** Undefined if the platform cannot distinguish processes. */
  identity: ProcessIdentity | undefined;
  stopOptions: StopOptions;
  /** Resolves when the process has ended, for any reason; never rejects. */
  exited: Promise<ChildExit>;
  /** Returns how the process ended; undefined while it runs. */
  exit(): ChildExit | undefined;
  /** Returns the last 4,000 characters that the process has written to its log file. */
  outputTail(): string;
  stop(): Promise<void>;
}

/** Starts processes; the supervisor's own function also puts them under the watchdog. */
export type SpawnChild = (options: ChildOptions) => Promise<Child>;

/**
 * Starts a process in a process group of its own. Ctrl-C in the terminal then reaches only us, and we end the children
 * in order.
 */
export async function spawnChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, logFile, stop: stopOptions = {} } = options;
  const output = logFile === undefined ? undefined : openLog(logFile);
  const logStart = logFile === undefined ? 0 : statSync(logFile).size;
  const child = spawn(command, args, {
    ...spawnOptions(options),
    stdio: output === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', output, output],
  });
  if (output !== undefined) closeSync(output);

  let exit: ChildExit | undefined;
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => {
      if (child.pid !== undefined) killGroup(child.pid);
      exit = { code, signal };
      resolve(exit);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new Error(`${name} could not be started: ${error.message}`, { cause: error })),
    );
  });
  const pid = child.pid ?? 0;
  const identity = identify(pid);

  return {
    name,
    pid,
    identity,
    stopOptions,
    exited,
    exit: () => exit,
    outputTail: () => (logFile === undefined ? '' : readFileSync(logFile).subarray(logStart).toString().slice(-4000)),
    stop: async () => {
      if (exit !== undefined) return;
      if (identity === undefined) child.kill();
      else await stopProcess(identity, stopOptions);
      await exited;
    },
  };
}

const MAX_LOG_BYTES = 10_000_000;

/** Opens a log and keeps one older log, so that the folder stays small. */
function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

function spawnOptions({ env, cwd, uid, gid }: ChildOptions): SpawnOptions {
  return {
    detached: process.platform !== 'win32',
    windowsHide: true,
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
}
