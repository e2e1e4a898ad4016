import type { Usage } from '#core/foundation/cost/index.ts';
import { runClock } from '#core/execution/runs/index.ts';
import {
  failure,
  type FailureReason,
  type RunEnding,
  type RunReason,
  type RunState,
} from '#core/execution/run-states/index.ts';
import type { Attempt } from '#core/usage/index.ts';
import { sql, storable, type Db, type Sql } from '#lib/database/index.ts';

/** The outcome of a model step for the workflow. It suffices for taking the next step, and contains nothing private. */
export type StepOutcome =
  | { readonly next: 'ended'; readonly state: RunState }
  /**
   * Perform the same step again after `delayMs`, for example because other steps have reserved the budget that it
   * needs.
   */
  | { readonly next: 'wait'; readonly delayMs: number; readonly remainingMs: number }
  /**
   * The next model step is at `nextIndex`, after these calls. Each call is a separate step, from the next index on.
   * Only the names of the tools cross Temporal; they are made of letters, digits, `_` and `-`.
   */
  | {
      readonly next: 'continue';
      readonly toolCalls: readonly string[];
      readonly nextIndex: number;
      /** Milliseconds that the run has left, so that the caller can limit later work. */
      readonly remainingMs: number;
    };

/** Consequence of a model step without a response. */
export type Consequence =
  /** The run ends. */
  | { readonly kind: 'ends'; readonly ending: RunEnding }
  /** The step is performed again, after this delay at the earliest. */
  | { readonly kind: 'waits'; readonly delayMs: number }
  /** Another attempt has recorded the step, or the run has ended: the outcome is recorded. */
  | { readonly kind: 'overtaken' };

/**
 * Ends a model step, or makes it wait, before its response is recorded. Any part of the step may throw a `Stop`; only
 * `performModelStep` catches it. A call that failed and may be made again is a `ModelFailure` instead.
 */
export class Stop extends Error {
  override readonly name = 'Stop';
  readonly consequence: Consequence;

  constructor(consequence: Consequence) {
    super(`The step ${consequence.kind}.`);
    this.consequence = consequence;
  }

  /** @param detail replaces the words of the reason */
  static fails(reason: FailureReason, detail?: string): Stop {
    return Stop.ends(failure(reason, detail));
  }

  static ends(ending: RunEnding): Stop {
    return new Stop({ kind: 'ends', ending });
  }

  /** Ends a run whose account waits for its allowance. @param atFirst true before the first step of the run */
  static usedUp(until: Date, atFirst: boolean): Stop {
    const words = `The allowance of the model account is used up until ${until.toISOString()}.`;
    return Stop.fails(atFirst ? 'blocked_usage_limit' : 'model_usage_limit', words);
  }

  static waits(delayMs = 0): Stop {
    return new Stop({ kind: 'waits', delayMs });
  }

  static overtaken(): Stop {
    return new Stop({ kind: 'overtaken' });
  }
}

/**
 * Returns a delay that grows with the time the step has waited, with a random part, so that waiting steps do not ask at
 * the same time. A wait of days asks some hundred times: every request adds to the history of the workflow, which is
 * bounded.
 */
export function delayAfter(waitedMs: number, soonMs = 15_000): number {
  const delayMs = Math.max(Math.min(Math.max(waitedMs / 4, 500), soonMs), waitedMs / 60);
  return Math.round(delayMs * (0.75 + Math.random() / 2));
}

/** Takes back an attempt that must wait: the attempt has sent nothing, so it does not count. */
export function takeBackAttempt({ runId, index, attempt }: Attempt): Sql {
  return sql`
        update steps set attempt = attempt - 1
        where run_id = ${runId} and index = ${index} and state = 'started' and attempt = ${attempt}`;
}

/** Records the end of a call. @returns false when it had ended already */
type EndCutCall = (tx: Db) => Promise<boolean>;

/** A model call without a usable response. `message` quotes nothing, so it may appear in Temporal's history. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly reason: Extract<RunReason, `model_${string}`> | 'context_exceeded';
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** True when the service itself gave up a running call, so that its usage is never stated. */
  readonly cutOff: boolean;
  /**
   * Records the end of an account's call that was cut off. The transaction that settles the usage calls this function.
   * Several attempts may get the same outcome: only the attempt for which the function returns true counts the usage.
   * Undefined at the gateway.
   */
  readonly endCall: EndCutCall | undefined;
  /** The provider's own words, cleaned; empty without words. Only people who may read the run get them. */
  readonly words: string;
  /** True when the server does not accept work yet, so that waiting for minutes may help. */
  readonly isStarting: boolean;
  /** Usage that the provider stated for a call that was cut off. */
  readonly usage: Usage | undefined;
  /** The finish reason of a response that does not count; undefined if the response had none. */
  readonly finishWord: string | undefined;
  /** Delay that the provider asked for in `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: ModelFailure['reason'],
    message: string,
    options: {
      retryable: boolean;
      retryAfterMs?: number | undefined;
      cutOff?: boolean;
      endCall?: EndCutCall;
      words?: string;
      isStarting?: boolean;
      usage?: Usage;
      finishWord?: string | undefined;
    },
  ) {
    super(message);
    this.reason = reason;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.cutOff = options.cutOff === true;
    this.endCall = options.endCall;
    this.words = options.words ?? '';
    this.isStarting = options.isStarting === true;
    this.usage = options.usage;
    this.finishWord = options.finishWord;
  }

  /** The message with the provider's words. */
  get told(): string {
    return this.words === '' ? this.message : `${this.message} It said: ${this.words}`;
  }
}

/** Attempts at one model step. With their pauses, the attempts bridge an outage of about half a minute. */
const MAX_MODEL_ATTEMPTS = 5;

/** Attempts while a server refuses connections or loads its model: about five minutes. */
const MAX_PATIENT_ATTEMPTS = 13;

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Returns the pause before the next attempt at a model step: the provider's own, or a pause that doubles. Counts the
 * provider's failures, not the attempts that were lost with a worker.
 * @param firstPauseMs the pause before the second attempt, which doubles
 * @returns undefined when there is no next attempt: the attempt would be useless, one too many, or too late for the run
 */
export function retryDelayMs(
  failure: ModelFailure,
  step: { readonly providerFailures: number; readonly remainingMs: number },
  firstPauseMs = FIRST_PAUSE_MS,
): number | undefined {
  const most = failure.isStarting ? MAX_PATIENT_ATTEMPTS : MAX_MODEL_ATTEMPTS;
  if (!failure.retryable || step.providerFailures >= most) return undefined;
  const pauseMs = Math.min(firstPauseMs * 2 ** (step.providerFailures - 1), LONGEST_PAUSE_MS);
  const delayMs = failure.retryAfterMs ?? pauseMs;
  return delayMs < step.remainingMs ? delayMs : undefined;
}

export interface FailedAttempts {
  /** Failed attempts of the step because of its provider, including this attempt. */
  readonly providerFailures: number;
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}

/**
 * Records on the step that an attempt failed and why, so that a run which is being retried shows the reason. Records
 * nothing if another attempt has recorded the step or the run has ended.
 */
export async function recordFailedAttempt(
  db: Db,
  step: { runId: string; index: number },
  failure: ModelFailure,
): Promise<FailedAttempts> {
  const counted = await db.row<FailedAttempts>`
    update steps set error_message = ${storable(failure.told)}, provider_failures = provider_failures + 1,
      failed_finish_reason = ${failure.finishWord ?? null}
    from runs
    where run_id = ${step.runId} and index = ${step.index} and steps.state = 'started' and runs.id = run_id
    returning provider_failures as "providerFailures",
      ${runClock.remainingMs(sql`runs`)} as "remainingMs"
  `;
  return counted ?? { providerFailures: 1, remainingMs: Number.POSITIVE_INFINITY };
}
