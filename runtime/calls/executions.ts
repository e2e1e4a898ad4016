import {
  CallFailure,
  MAX_PLAINTEXT_BYTES,
  type FrameContent,
  type OpenedRequest,
  type StoreBox,
} from '#lib/envelope/index.ts';
import { parseExact } from '#lib/exact-json/parse.ts';
import type { Log } from '#lib/log.ts';
import type { Journal } from '../state/journal.ts';
import type { Lease } from '../state/lease.ts';

/** The last frame of a call. */
export type Outcome = Extract<FrameContent, { type: 'result' | 'failure' }>;

export interface Executions {
  /**
   * Begins a call, joins the running call of the same id, or returns its stored outcome.
   * @returns `full` at the limit of calls; nothing is written then
   * @throws when the journal cannot be written; nothing begins then
   */
  begin(request: OpenedRequest, work: (signal: AbortSignal) => Promise<unknown>): Begun;
  /** @returns true if the call was under way */
  cancel(requestId: string): boolean;
  /** Ends the calls of lower epochs. */
  fence(below: number): void;
  readonly count: number;
  /** Resolves when no call is left or the time is over. Remaining calls are given up. */
  drain(graceMs: number): Promise<void>;
}

export type Begun =
  | { readonly kind: 'full' }
  | {
      readonly kind: 'begun';
      readonly outcome: Promise<Outcome>;
      /** Records that this caller has left. A call without a waiting caller is given up after a while. */
      leave(): void;
    };

interface Execution {
  readonly bodyHash: string;
  readonly epoch: number;
  readonly abort: AbortController;
  readonly outcome: Promise<Outcome>;
  waiting: number;
  lonely: NodeJS.Timeout | undefined;
}

export interface ExecutionSettings {
  readonly journal: Journal;
  readonly box: StoreBox;
  readonly lease: Lease;
  readonly maxAtOnce: number;
  /** The longest time of a call, even with a later deadline. */
  readonly maxMs: number;
  /** Time for which a call continues after its last caller has left. */
  readonly lonelyMs: number;
  readonly log: Log;
}

/**
 * Error of a call that was stopped because no caller waits or the runtime ends: whether the provider did the work is
 * unknown.
 */
const GIVEN_UP = new CallFailure('unknown_outcome');
const FENCED = new CallFailure('fenced');

export function createExecutions(settings: ExecutionSettings): Executions {
  const { journal, box, lease, maxAtOnce, lonelyMs, log } = settings;
  const underWay = new Map<string, Execution>();

  const begin: Executions['begin'] = ({ claims }, work) => {
    const { requestId, bodyHash } = claims;
    const running = underWay.get(requestId);
    if (running !== undefined) {
      return running.bodyHash === bodyHash ? join(running) : ended(failure('conflict'));
    }
    const known = journal.find(requestId);
    if (known !== undefined) {
      if (known.bodyHash !== bodyHash) return ended(failure('conflict'));
      if (known.state === 'accepted') return ended(failure('unknown_outcome'));
      if (known.sealed === undefined) return ended(failure('result_gone'));
      return ended(box.open(known.sealed, requestId).then(readOutcome));
    }
    if (underWay.size >= maxAtOnce) return { kind: 'full' };
    // There must be no await between the look-up above and here, or two calls of the same id could both begin.
    journal.accept(requestId, bodyHash);
    const abort = new AbortController();
    const limit = Math.min((claims.deadline ?? Infinity) - Date.now(), settings.maxMs);
    const timer = setTimeout(() => abort.abort(new CallFailure('timeout')), Math.max(limit, 0));
    const outcome = run(requestId, claims.epoch, abort.signal, work).finally(() => {
      clearTimeout(timer);
      clearTimeout(execution.lonely);
      if (underWay.get(requestId) === execution) underWay.delete(requestId);
    });
    const { epoch } = claims;
    const execution: Execution = {
      bodyHash,
      epoch,
      abort,
      outcome,
      waiting: 0,
      lonely: undefined,
    };
    underWay.set(requestId, execution);
    return join(execution);
  };

  /** Stores the outcome of the call. A call that was given up, or whose lease has ended, has no recorded end. */
  const run = async (
    requestId: string,
    epoch: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<Outcome> => {
    const outcome = await outcomeOf(work, signal);
    const sealed = await box.seal(JSON.stringify(outcome), requestId);
    // There must be no await between these checks and the store, because their results can change at any time.
    if (signal.reason === GIVEN_UP) return failureOf(GIVEN_UP);
    if (signal.reason === FENCED || !lease.holds(epoch)) return failureOf(FENCED);
    try {
      journal.finish(requestId, sealed);
    } catch (err) {
      // Waiting callers get the result, which was paid for. A later delivery of the request finds a call with an
      // unknown outcome.
      log.error({ err, requestId }, 'a result was not stored');
    }
    return outcome;
  };

  const join = (execution: Execution): Begun => {
    clearTimeout(execution.lonely);
    execution.waiting += 1;
    let left = false;
    return {
      kind: 'begun',
      outcome: execution.outcome,
      leave() {
        if (left) return;
        left = true;
        execution.waiting -= 1;
        if (execution.waiting > 0) return;
        execution.lonely = setTimeout(() => execution.abort.abort(GIVEN_UP), lonelyMs);
      },
    };
  };

  return {
    begin,
    cancel(requestId) {
      const execution = underWay.get(requestId);
      execution?.abort.abort(new CallFailure('cancelled'));
      return execution !== undefined;
    },
    fence(below) {
      for (const [requestId, execution] of underWay) {
        if (execution.epoch >= below) continue;
        execution.abort.abort(FENCED);
        underWay.delete(requestId);
      }
    },
    get count() {
      return underWay.size;
    },
    async drain(graceMs) {
      const all = Promise.allSettled([...underWay.values()].map(({ outcome }) => outcome));
      const timer = setTimeout(() => {
        for (const { abort } of underWay.values()) abort.abort(GIVEN_UP);
      }, graceMs);
      await all;
      clearTimeout(timer);
    },
  };
}

function ended(outcome: Outcome | Promise<Outcome>): Begun {
  return { kind: 'begun', outcome: Promise.resolve(outcome), leave: () => undefined };
}

async function outcomeOf(work: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<Outcome> {
  try {
    const value = await work(signal);
    // A call that was cancelled at the last moment stays cancelled, because the caller was told of the cancellation.
    if (signal.aborted) return failureOf(signal.reason);
    const bytes = Buffer.byteLength(JSON.stringify(value));
    return bytes > MAX_RESULT_BYTES ? failure('too_large') : { type: 'result', value };
  } catch (error) {
    return failureOf(signal.aborted ? signal.reason : error);
  }
}

/** A result must fit into a frame with the frame's own fields. */
const MAX_RESULT_BYTES = MAX_PLAINTEXT_BYTES - 4_096;

function failure(code: CallFailure['code']): Outcome {
  return { type: 'failure', code, details: {} };
}

function failureOf(error: unknown): Outcome {
  if (!(error instanceof CallFailure)) return failure('sandbox_failed');
  return { type: 'failure', code: error.code, details: error.details };
}

function readOutcome(text: string): Outcome {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this process or one before it, and authenticated
  return parseExact(text) as Outcome;
}
