import { readdir, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/** The lowest of all, for `nice`: about a seventieth of the usual weight. */
const LOWEST = 19;

/**
 * Gives the processes of a session the lowest priority. Linux shares the processor between threads, and where
 * `autogroup` is on between sessions of the terminal, of which each sandbox is one: both are lowered.
 * @param family a process and its descendants
 * @returns false when it has to be tried again
 */
export async function lowerPriority(family: readonly number[]): Promise<boolean> {
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
