import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/** Processor time that a session has before it steps back: several times what its start and a model step take. */
const ALLOWANCE_SECONDS = 1;
const INTERVAL_MS = 250;
/** The lowest of all, for `nice`: about a seventieth of the usual weight. */
const LOWEST = 19;
/** The unit of times in /proc, which is the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface PriorityWatch {
  /** Watches a session by the process that was started for it. @returns what ends the watch */
  watch(pid: number): () => void;
}

/**
 * Watches how much processor time sessions use, and gives those that use more than a model step needs the lowest
 * priority, so that one that has been taken over, and computes for nothing, does not slow the others down. Limits of
 * `prlimit` end it only a minute later. Linux shares the processor between threads, and where `autogroup` is on between
 * sessions of the terminal, of which each sandbox is one: both are lowered. Elsewhere than on Linux it does nothing.
 */
export function createPriorityWatch(): PriorityWatch {
  const watched = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    await Promise.all(
      [...watched].map(async (pid) => {
        const family = await familyOf(pid);
        const seconds = await Promise.all(family.map(processorSeconds));
        if (seconds.reduce((sum, each) => sum + each, 0) < ALLOWANCE_SECONDS) return;
        if (await lower(family)) watched.delete(pid);
      }),
    );
    timer = watched.size === 0 ? undefined : later();
  };
  const later = () => setTimeout(() => void look(), INTERVAL_MS).unref();
  return {
    watch(pid) {
      watched.add(pid);
      timer ??= later();
      return () => watched.delete(pid);
    },
  };
}

/** Returns a process and its descendants; none where it has ended. */
async function familyOf(pid: number): Promise<number[]> {
  const children = await read(`/proc/${pid}/task/${pid}/children`);
  if (children === undefined) return [];
  const families = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(familyOf));
  return [pid, ...families.flat()];
}

/** Reads how much processor time the threads of a process have used, by proc_pid_stat(5). */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await read(`/proc/${pid}/stat`);
  if (stat === undefined) return 0;
  // The name, in brackets, may hold spaces; the fields after it begin with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) / TICKS_PER_SECOND;
}

/** @returns false when it has to be tried again */
async function lower(family: readonly number[]): Promise<boolean> {
  const threads = await Promise.all(
    family.map((pid) => readdir(`/proc/${pid}/task`).catch(() => [])),
  );
  for (const thread of threads.flat()) lowerThread(Number(thread));
  // Of a sandbox the last one is inside, in the group of all that is.
  return lowerGroup(family.at(-1));
}

function lowerThread(thread: number): void {
  try {
    setPriority(thread, LOWEST);
  } catch {
    // It has ended.
  }
}

async function lowerGroup(pid: number | undefined): Promise<boolean> {
  try {
    await writeFile(`/proc/${pid}/autogroup`, String(LOWEST));
    return true;
  } catch (error) {
    // The kernel takes ten such changes a second from ordinary users.
    return !(error instanceof Error && 'code' in error && error.code === 'EAGAIN');
  }
}

function read(file: string): Promise<string | undefined> {
  return readFile(file, 'latin1').catch(() => undefined);
}
