import { readFile, readdir } from 'node:fs/promises';

/** Measures two things in turn, A B B A A B …, so that a change of the machine's speed affects both. */
export async function alternate(
  rounds: number,
  measure: { value: () => Promise<number>; baseline: () => Promise<number> },
): Promise<{ value: number[]; baseline: number[] }> {
  const value: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      value.push(await measure.value());
      baseline.push(await measure.baseline());
    } else {
      baseline.push(await measure.baseline());
      value.push(await measure.value());
    }
  }
  return { value, baseline };
}

/**
 * Keeps `width` calls of `work` going, and returns the calls a second that ended within `seconds`. The clock starts
 * when the first `width` calls have ended, because slow calls need long until the first of them ends.
 */
export async function rateFor(seconds: number, width: number, work: () => Promise<unknown>): Promise<number> {
  let end = Number.POSITIVE_INFINITY;
  let before = 0;
  let ended = 0;
  const keepWorking = async () => {
    while (performance.now() < end) {
      await work();
      if (before < width) {
        before += 1;
        if (before === width) end = performance.now() + seconds * 1_000;
      } else if (performance.now() <= end) ended += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, keepWorking));
  return ended / seconds;
}

/**
 * Runs both in turn until their processes have settled. V8 compiles for half a minute, and longer for more code. A
 * service that has run for weeks no longer compiles.
 */
export async function warmUp(
  width: number,
  { value, baseline }: { value: () => Promise<unknown>; baseline: () => Promise<unknown> },
): Promise<void> {
  await rateFor(15, width, baseline);
  await rateFor(30, width, value);
}

/** Returns the milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Linux counts processor time in hundredths of a second, with any frequency of its timer. */
const TICKS_A_SECOND = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

/**
 * Returns the seconds of CPU that a process and its descendants, also ended ones, have used since their start (Linux
 * only).
 */
export async function cpuSeconds(root: number): Promise<number> {
  const processes = await readProcesses();
  const secondsOf = (pid: number): number =>
    processes
      .filter(({ parent }) => parent === pid)
      .reduce((sum, child) => sum + secondsOf(child.pid), processes.find((one) => one.pid === pid)?.seconds ?? 0);
  return secondsOf(root);
}

async function readProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map((pid) => readProcess(Number(pid))));
  return all.filter((process) => process !== undefined);
}

/** Reads proc_pid_stat(5); undefined for a process that has just ended. */
async function readProcess(pid: number): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name before these fields may contain spaces and parentheses. Then: state, parent, …, utime, stime, cutime,
  // cstime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_A_SECOND };
}
