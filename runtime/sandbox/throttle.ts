import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/** Seconds of processor time that a session may use at once, several times what its start and a model step need. */
const BURST_SECONDS = 1;
/** Share of one core that a session may use permanently, several times what a long response needs. */
const SHARE = 0.05;
const INTERVAL_MS = 250;
/** Interval of the checks while a session with lowered priority runs. Other calls may have to wait this long. */
const PULSE_MS = 10;
/** Unit of times in /proc, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Throttle {
  /** Watches a session by its first process. @returns a function that ends the watch */
  watch(pid: number): () => void;
}

interface Watched {
  /** Processor time left, in seconds: a token bucket that may be overdrawn. */
  left: number;
  /** Processor time used until the last check, and the time of that check. */
  used: number;
  at: number;
  isStopped: boolean;
  isLowered: boolean;
}

/**
 * Limits each session to a second of processor time and then a twentieth of a core, so that a captured session that
 * computes without end does not slow the others. After a minute of processor time the limit of `prlimit` ends the
 * session. Processes above the limit are stopped, and continue with the lowest priority. A control group with a quota
 * would do the same but needs rights that the runtime should not have. The throttle works on Linux only.
 */
export function createThrottle(): Throttle {
  const sessions = new Map<number, Watched>();
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    await Promise.all([...sessions].map(([pid, watched]) => hold(pid, watched)));
    timer = sessions.size === 0 ? undefined : later();
  };
  const later = () => {
    const goesOn = [...sessions.values()].some(({ isLowered, isStopped }) => isLowered && !isStopped);
    return setTimeout(() => void look(), goesOn ? PULSE_MS : INTERVAL_MS).unref();
  };
  return {
    watch(pid) {
      const at = performance.now();
      sessions.set(pid, { left: BURST_SECONDS, used: 0, at, isStopped: false, isLowered: false });
      timer ??= later();
      return () => sessions.delete(pid);
    },
  };
}

/** Stops a session that has used more than its share, and continues it when its share has grown again. */
async function hold(pid: number, watched: Watched): Promise<void> {
  const family = await familyOf(pid);
  const seconds = await Promise.all(family.map(processorSeconds));
  const used = seconds.reduce((sum, each) => sum + each, 0);
  const now = performance.now();
  const gained = ((now - watched.at) / 1_000) * SHARE;
  // The sum may shrink, because it loses the seconds of a process that ends.
  const spent = Math.max(used - watched.used, 0);
  const left = Math.min(watched.left + gained, BURST_SECONDS) - spent;
  // On a busy machine the checks are late, so time used meanwhile counts only in part.
  watched.left = Math.max(left, -BURST_SECONDS);
  watched.used = used;
  watched.at = now;
  const isStopped = watched.left < 0;
  // The signal is repeated at each check, because new processes may have started.
  if (isStopped) signalAll(family, 'SIGSTOP');
  else if (watched.isStopped) signalAll(family, 'SIGCONT');
  watched.isStopped = isStopped;
  if (isStopped && !watched.isLowered) watched.isLowered = await lowerPriority(family);
}

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
  // The second field, a name in brackets, may contain spaces, so the fields are split after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) / TICKS_PER_SECOND;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}

function read(file: string): Promise<string | undefined> {
  return readFile(file, 'latin1').catch(() => undefined);
}

/** The lowest priority for `nice`: about a seventieth of the usual weight. */
const LOWEST = 19;

/**
 * Gives the processes of a session the lowest priority. Linux shares the processor between threads and, with
 * `autogroup`, between terminal sessions. Each sandbox is such a session, so both priorities are lowered.
 * @param family a process and its descendants
 * @returns false when the change must be tried again
 */
async function lowerPriority(family: readonly number[]): Promise<boolean> {
  const threads = await Promise.all(family.map((pid) => readdir(`/proc/${pid}/task`).catch(() => [])));
  for (const thread of threads.flat()) lowerThread(Number(thread));
  // Lower the group of the family's last process, which runs inside the sandbox, as the code of the session does.
  return lowerGroup(family.at(-1));
}

function lowerThread(thread: number): void {
  try {
    setPriority(thread, LOWEST);
  } catch {
    // The process has ended.
  }
}

async function lowerGroup(pid: number | undefined): Promise<boolean> {
  try {
    await writeFile(`/proc/${pid}/autogroup`, String(LOWEST));
    return true;
  } catch (error) {
    // Try again later: the kernel refuses more than ten such changes a second from ordinary users.
    return !(error instanceof Error && 'code' in error && error.code === 'EAGAIN');
  }
}
