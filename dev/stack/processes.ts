import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorCode } from './error-code.ts';

/**
 * Identity of a process: its pid and its start time (an opaque text), which distinguish it from a later process with
 * the same pid.
 */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** Options for ending a process: the first signal, and the wait before SIGKILL. */
export interface StopOptions {
  signal?: NodeJS.Signals;
  graceMs?: number;
}

/**
 * Reads the identity of a running process. Returns undefined for a missing process or a zombie, and on Windows, where
 * the identity cannot be read.
 */
export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Returns true while this same process runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

/** Asks the process to end, kills it if it does not, and then kills the rest of its process group. */
export async function stopProcess(
  identity: ProcessIdentity,
  { signal = 'SIGTERM', graceMs = 5_000 }: StopOptions = {},
): Promise<void> {
  if (!isRunning(identity)) return;
  send(identity.pid, signal);
  if (!(await goneWithin(identity, graceMs))) {
    send(identity.pid, 'SIGKILL');
    await goneWithin(identity, 5_000);
  }
  killGroup(identity.pid);
}

/** Kills the remaining processes of a group by the pid of its leader. */
export function killGroup(pid: number): void {
  if (process.platform !== 'win32') send(-pid, 'SIGKILL');
}

/** Sends a signal; an ended process is no error. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM') throw error;
  }
}

/** Returns true when a process has this pid. The check is cheap, but the pid may belong to another process by now. */
export function exists(pid: number): boolean {
  // A signal 0 would also reach a zombie.
  if (process.platform === 'linux') return identify(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Returns the pid of a process's parent; undefined if it cannot be determined. */
export function parentOf(pid: number): number | undefined {
  const text = process.platform === 'linux' ? statFields(pid)?.[1] : ps(pid, 'ppid=')?.trim() || undefined;
  return text === undefined ? undefined : Number(text);
}

/** Returns the command line of a process; undefined if it cannot be determined. */
export function commandLine(pid: number): string | undefined {
  return process.platform === 'linux'
    ? read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
    : ps(pid, 'command=')?.trim();
}

async function goneWithin(identity: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}

/** Reads the start time of a process in clock ticks, with the id of the boot that they count from. */
function startFromProc(pid: number): string | undefined {
  const fields = statFields(pid);
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${fields[19] ?? ''}`;
}

/** Reads the fields of /proc/<pid>/stat after the command name: state, parent, …, start time at index 19 (proc(5)). */
export function statFields(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function startFromPs(pid: number): string | undefined {
  const line = ps(pid, 'stat=,lstart=')?.trim();
  if (line === undefined || line === '' || line.startsWith('Z')) return undefined;
  return line.replace(/^\S+\s+/, '');
}

function ps(pid: number, columns: string): string | undefined {
  try {
    return execFileSync('ps', ['-o', columns, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
