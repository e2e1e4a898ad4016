import type { Db } from '#lib/database/index.ts';
import type { CallFailure } from '#lib/envelope/index.ts';
import type { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import { ModelFailure } from '../model-failure.ts';
import { AccountBlocked, AccountBusy } from './not-made.ts';

/** Longest delay by which a provider can postpone a step. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** Converts a sealed failure of the runtime into its consequence for the step. */
export function fromCallFailure({
  code,
  message,
  details,
}: CallFailure): ModelFailure | AccountBlocked {
  const retryAfterMs =
    details.retryAfterMs == null ? undefined : Math.min(details.retryAfterMs, MAX_RETRY_AFTER_MS);
  switch (code) {
    case 'provider_disabled':
      return new AccountBlocked('blocked_provider_disabled', message);
    case 'file_mismatch':
      return new AccountBlocked('blocked_provider_mismatch');
    case 'usage_limit':
      return new ModelFailure('model_usage_limit', message, { retryable: false });
    case 'rate_limited':
      return new ModelFailure('model_rate_limited', message, { retryable: true, retryAfterMs });
    case 'credential_refused':
      // 403: the credential is good, but not for this.
      return details.status === 403
        ? new ModelFailure('model_refused', message, { retryable: false })
        : new ModelFailure('model_credential_refused', message, { retryable: false });
    case 'model_error': {
      const refused = details.retryable === false;
      const text =
        details.status == null ? message : `The model provider answered ${details.status}.`;
      return new ModelFailure(refused ? 'model_refused' : 'model_error', text, {
        retryable: !refused,
        retryAfterMs,
      });
    }
    case 'malformed':
      return new ModelFailure('model_malformed', message, { retryable: true });
    case 'too_large':
      return new ModelFailure('model_refused', message, { retryable: false });
    case 'sandbox_failed':
      return new ModelFailure('model_session_failed', message, { retryable: true });
    case 'timeout':
    case 'fenced':
    case 'conflict':
    case 'unknown_outcome':
    case 'result_gone':
    case 'cancelled':
      return new ModelFailure('model_unreachable', message, { retryable: true });
  }
}

/** Converts the sealed failure of a call that was cut off; whoever settles the call ends it by `endCall`. */
export function fromCutCall(
  { message }: CallFailure,
  endCall: (tx: Db) => Promise<boolean>,
): ModelFailure {
  return new ModelFailure('model_unreachable', message, { retryable: true, cutOff: true, endCall });
}

/** Converts an exchange without a sealed outcome into its consequence for the step. The call keeps its request id. */
export function fromUnreachable({
  reason,
  message,
  retryAfterMs,
}: RuntimeUnreachable): ModelFailure | AccountBusy {
  // Nothing was begun, and there may be room in a moment.
  if (reason === 'busy') return new AccountBusy(retryAfterMs);
  return new ModelFailure('model_unreachable', message, { retryable: true });
}
