import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { bubblewrapCommand, processCommand, type SandboxCommand, type SandboxKind } from './command.ts';
import { createThrottle, type Throttle } from './throttle.ts';
import { seccompProgram } from './seccomp.ts';

export interface SandboxedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves with the exit code when the process has ended; with null after a signal, or if the process never began.
   */
  readonly exited: Promise<number | null>;
  kill(): void;
}

export interface Sandbox {
  readonly kind: SandboxKind;
  /** Returns a path for the socket of one session's broker. */
  socketPath(): string;
  launch(script: string, socketPath: string, args?: readonly string[]): SandboxedProcess;
  close(): void;
}

/**
 * Prepares a private folder for sockets, and the filter of system calls; every session needs both.
 * @param programs paths of further programs that are bound, for tests
 */
export function createSandbox(kind: SandboxKind, programs: readonly string[] = []): Sandbox {
  const folder = privateFolder();
  const filter = kind === 'bubblewrap' ? seccompProgram(process.arch) : undefined;
  const filterFile = path.join(folder, 'seccomp.bpf');
  if (filter !== undefined) writeFileSync(filterFile, filter);
  const throttle = createThrottle();
  let sockets = 0;
  return {
    kind,
    socketPath: () => path.join(folder, `${sockets++}.sock`),
    launch(script, socketPath, args = []) {
      const entry = { script, socketPath, args, programs };
      if (kind === 'process') return start(processCommand(entry), throttle);
      if (filter === undefined) return start(bubblewrapCommand(entry), throttle);
      // The file is opened for each session, because a shared descriptor would continue where the last reader stopped.
      const fd = openSync(filterFile, 'r');
      try {
        return start(bubblewrapCommand({ ...entry, seccompFd: FILTER_FD }), throttle, fd);
      } finally {
        closeSync(fd);
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The first descriptor after standard input, output and error. */
const FILTER_FD = 3;
const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin';

function start({ file, args }: SandboxCommand, throttle: Throttle, filter?: number): SandboxedProcess {
  const child = spawn(file, args, {
    // PATH serves only to find bubblewrap, which clears the environment. Node is named by its full path.
    env: path.isAbsolute(file) ? {} : { PATH: SEARCH_PATH },
    stdio: ['pipe', 'pipe', 'pipe', ...(filter === undefined ? [] : [filter])],
    // Make the process lead a group, which can be killed as a whole.
    detached: true,
  });
  const exited = exitOf(child);
  if (child.pid !== undefined) void exited.then(throttle.watch(child.pid));
  return { ...pipesOf(child), exited, kill: () => killGroup(child) };
}

/**
 * Kills the whole process group. Just after its start, the child of bubblewrap does not yet end together with
 * bubblewrap: if only bubblewrap were killed, the child would live on and keep the pipes open.
 */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Ignore a group whose processes have ended already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function pipesOf({ stdin, stdout, stderr }: ChildProcess) {
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
  // Ignore errors of writing to a process that has ended: `exited` reports the end.
  stdin.on('error', () => undefined);
  return { stdin, stdout, stderr };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
}

function privateFolder(): string {
  try {
    return mkdtempSync(path.join(tmpdir(), 'ras-sessions-'));
  } catch (error) {
    throw new Error(
      `The runtime cannot write to ${tmpdir()}, where sessions have their sockets. Mount a folder there, or name another by TMPDIR.`,
      { cause: error },
    );
  }
}
