import type { FailureReason } from '#core/runs/index.ts';

/** Thrown for a call that was not made yet: the account or the runtime has reached its limit of running calls. */
export class AccountBusy extends Error {
  override readonly name = 'AccountBusy';
  /** Shortest time to wait. */
  readonly delayMs: number;

  constructor(delayMs = 0) {
    super('The model account is busy.');
    this.delayMs = delayMs;
  }
}

/** Thrown for a call that is not made: its run ends with this reason, which no later attempt would change. */
export class AccountBlocked extends Error {
  override readonly name = 'AccountBlocked';
  readonly reason: FailureReason;
  /** Detail beyond the reason, in nobody's words but the service's. */
  readonly detail: string | undefined;

  constructor(reason: FailureReason, detail?: string) {
    super(`The model account cannot be used: ${reason}.`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Thrown for a call that is not made because nobody waits for its response: the run has ended, or the step has one. */
export class CallUnwanted extends Error {
  override readonly name = 'CallUnwanted';

  constructor() {
    super('The response of this call would not be used.');
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
