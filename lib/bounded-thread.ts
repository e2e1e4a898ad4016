/* oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin */
import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { createTurns } from './turns.ts';

/** Thrown for a job that exceeds its limit of time or memory. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError';
}

/** Thrown when too much work of one owner is waiting already. */
export class ThreadBusyError extends Error {
  override readonly name = 'ThreadBusyError';
}

export interface BoundedThreadOptions {
  /** Module that the thread runs. The module calls `serveJobs`. */
  readonly entry: URL;
  readonly maxHeapMb: number;
}

/** Gives the thread one job, which may compute for `limitMs`. @throws {JobLimitError} */
export type Ask<Job, Result> = (job: Job, limitMs: number) => Promise<Result>;

/** Time for a new thread to load its modules, even on a busy machine. */
const START_LIMIT_MS = 30_000;

/** The most pieces of work of one owner that may wait behind the running piece. */
const MAX_BEHIND = 20;

/**
 * Runs jobs on one thread outside the event loop, one after another. A job that exceeds its limit ends the thread, and
 * the next job gets a new thread. The thread starts with the first job and does not keep an idle process alive. Each
 * owner has only one piece of work at a time in the queue of the thread, so a new piece of work waits for at most one
 * piece of each other owner.
 */
export class BoundedThread<Job, Result> {
  readonly #options: BoundedThreadOptions;
  #thread: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #inTurn = createTurns(MAX_BEHIND);

  constructor(options: BoundedThreadOptions) {
    this.#options = options;
  }

  /**
   * Gives an owner the thread for a piece of work. No job of another owner runs between the jobs of this work.
   * @throws {JobLimitError}
   * @throws {ThreadBusyError}
   */
  async run(owner: string, work: (ask: Ask<Job, Result>) => Promise<Result>): Promise<Result> {
    const done = await this.#inTurn(owner, async () => {
      const result = this.#last.then(() => work((job, limitMs) => this.#exchange(job, limitMs)));
      this.#last = result.catch(() => undefined);
      return { result: await result };
    });
    if (done === undefined) throw new ThreadBusyError('too many jobs of the same owner are waiting');
    return done.result;
  }

  async #exchange(job: Job, limitMs: number): Promise<Result> {
    const thread = (this.#thread ??= await this.#start());
    thread.ref();
    try {
      const computing = await limitComputing(thread, limitMs);
      try {
        const answered = next<Result>(thread, computing.signal);
        thread.postMessage(job);
        const result = await answered;
        thread.unref();
        return result;
      } finally {
        computing.end();
      }
    } catch (error) {
      this.#thread = undefined;
      await thread.terminate();
      throw isLimit(error) ? new JobLimitError('the job took too much time or memory') : error;
    }
  }

  async #start(): Promise<Worker> {
    const { entry, maxHeapMb } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb };
    const thread = new Worker(entry, { execArgv: [], resourceLimits });
    // Ignore the error: a caller gets it from `next`, and the next job replaces an idle thread that has ended.
    thread.on('error', () => undefined);
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    await next(thread, AbortSignal.timeout(START_LIMIT_MS));
    return thread;
  }
}

/**
 * Serves the jobs of a `BoundedThread`. The module that the thread runs calls this function. An error of `work` ends
 * the thread.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the other half of `BoundedThread<Job>`
export function serveJobs<Job>(work: (job: Job) => unknown): void {
  parentPort?.on('message', (job: Job) => parentPort?.postMessage(work(job)));
  parentPort?.postMessage('ready');
}

async function next<Message>(thread: Worker, signal: AbortSignal): Promise<Message> {
  const [message] = await once(thread, 'message', { signal });
  return message;
}

/**
 * Returns a signal that fires once the thread has computed for `limitMs`, or after 30 seconds. It measures computing
 * time, because on a busy machine a thread that waits for a processor has not used its limit.
 */
async function limitComputing(thread: Worker, limitMs: number) {
  const passed = new AbortController();
  const before = await thread.cpuUsage();
  let timer = setTimeout(look, limitMs);
  async function look(): Promise<void> {
    // If the thread has ended, its own event reports that.
    const used = await thread.cpuUsage(before).catch(() => undefined);
    const leftMs = used === undefined ? 0 : limitMs - (used.user + used.system) / 1_000;
    if (leftMs <= 0) passed.abort();
    else if (!passed.signal.aborted) timer = setTimeout(look, Math.max(leftMs, 10));
  }
  return {
    signal: AbortSignal.any([passed.signal, AbortSignal.timeout(START_LIMIT_MS)]),
    end: () => {
      clearTimeout(timer);
      passed.abort();
    },
  };
}

function isLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && error.code === OUT_OF_MEMORY);
}

const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';
