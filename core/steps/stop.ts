import { failure, type FailureReason, type RunEnding } from '#core/run-states/index.ts';

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
