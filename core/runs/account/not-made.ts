import type { FailureReason } from '../states.ts';

/** A call that was not made yet: the account, or the runtime, has as many under way as it may. */
export class AccountBusy extends Error {
  override readonly name = 'AccountBusy';
  /** The least time to wait. */
  readonly delayMs: number;

  constructor(delayMs = 0) {
    super('The model account is busy.');
    this.delayMs = delayMs;
  }
}

/** A call that is not made: its run ends for this reason, which no later attempt would change. */
export class AccountBlocked extends Error {
  override readonly name = 'AccountBlocked';
  readonly reason: FailureReason;
  /** Says more than the reason does; nothing that a provider or a person wrote. */
  readonly detail: string | undefined;

  constructor(reason: FailureReason, detail?: string) {
    super(`The model account cannot be used: ${reason}.`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Returns why a run ends whose account waits for its allowance. */
export function usedUp(
  until: Date,
  atFirst: boolean,
): { readonly reason: FailureReason; readonly detail: string } {
  return {
    reason: atFirst ? 'blocked_usage_limit' : 'model_usage_limit',
    detail: `The allowance of the model account is used up until ${until.toISOString()}.`,
  };
}
