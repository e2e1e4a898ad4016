import { readFile, readdir } from 'node:fs/promises';

/** Linux counts in hundredths of a second, with any frequency of its timer. */
const TICKS_A_SECOND = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

/**
 * Returns the CPU time in seconds that a process and all below it have used since they were started, those that have
 * ended included (Linux only).
 */
export async function cpuSeconds(root: number): Promise<number> {
  const processes = await readProcesses();
  const secondsOf = (pid: number): number =>
    processes
      .filter(({ parent }) => parent === pid)
      .reduce(
        (sum, child) => sum + secondsOf(child.pid),
        processes.find((one) => one.pid === pid)?.seconds ?? 0,
      );
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
  // The name before may hold spaces and parentheses. Then: state, parent, …, utime, stime, cutime, cstime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_A_SECOND };
}
