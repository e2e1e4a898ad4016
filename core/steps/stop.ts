import {
  failure,
  type FailureReason,
  type RunEnding,
  type RunState,
} from '#core/run-states/index.ts';

/** The outcome of a model step as the workflow sees it: enough to take the next step, nothing private. */
export type StepOutcome =
  | { readonly next: 'ended'; readonly state: RunState }
  /** The same step again after `delayMs`: what it needs of a budget is reserved by other steps. */
  | { readonly next: 'wait'; readonly delayMs: number; readonly remainingMs: number }
  /**
   * The next model step is at `nextIndex`, after these calls. Each call is a step of its own, from the next index on.
   * Only the names of the tools cross Temporal; they are made of letters, digits, `_` and `-`.
   */
  | {
      readonly next: 'continue';
      readonly toolCalls: readonly string[];
      readonly nextIndex: number;
      /** Milliseconds that the run has left, so that what follows can be bounded. */
      readonly remainingMs: number;
    };

/** Consequence of a model step that gets no response. */
export type Consequence =
  /** The run ends so. */
  | { readonly kind: 'ends'; readonly ending: RunEnding }
  /** The step is performed again, after this delay at the earliest. */
  | { readonly kind: 'waits'; readonly delayMs: number }
  /** Another attempt has recorded the step, or the run has ended: the outcome is on record. */
  | { readonly kind: 'overtaken' };

/**
 * Thrown by any part of a model step that ends it or lets it wait before its response is recorded, and caught in one
 * place, by `performModelStep`. A call that failed and may be made again is a `ModelFailure` instead.
 */
export class Stop extends Error {
  override readonly name = 'Stop';
  readonly consequence: Consequence;

  constructor(consequence: Consequence) {
    super(`The step ${consequence.kind}.`);
    this.consequence = consequence;
  }

  /** @param detail words beyond those of the reason, which are the service's own */
  static fails(reason: FailureReason, detail?: string): Stop {
    return Stop.ends(failure(reason, detail));
  }

  static ends(ending: RunEnding): Stop {
    return new Stop({ kind: 'ends', ending });
  }

  static waits(delayMs = 0): Stop {
    return new Stop({ kind: 'waits', delayMs });
  }

  static overtaken(): Stop {
    return new Stop({ kind: 'overtaken' });
  }
}

/** Returns the reason for ending a run whose account waits for its allowance. */
export function usedUp(
  until: Date,
  atFirst: boolean,
): { readonly reason: FailureReason; readonly detail: string } {
  return {
    reason: atFirst ? 'blocked_usage_limit' : 'model_usage_limit',
    detail: `The allowance of the model account is used up until ${until.toISOString()}.`,
  };
}

/**
 * Returns a delay that grows with the time the step has waited, with a random part, so that those who wait do not ask
 * together. A wait of days asks some hundred times: each adds to the history of the workflow, which is bounded.
 */
export function delayAfter(waitedMs: number, soonMs = 15_000): number {
  const delayMs = Math.max(Math.min(Math.max(waitedMs / 4, 500), soonMs), waitedMs / 60);
  return Math.round(delayMs * (0.75 + Math.random() / 2));
}
