import { z } from 'zod';

/**
 * The closed list of sealed failures. `again` says whether a later attempt, under a new id, may succeed by itself.
 */
export const FAILURES = {
  provider_disabled: { again: false, message: 'The provider is not enabled on the runtime.' },
  file_mismatch: { again: false, message: 'The provider files of API and runtime differ.' },
  fenced: { again: true, message: 'The lease under which the call was made is over.' },
  conflict: { again: false, message: 'The request id was used with another body.' },
  unknown_outcome: { again: true, message: 'The provider may have been asked before.' },
  result_gone: { again: true, message: 'The call ended and its result is no longer kept.' },
  credential_refused: { again: false, message: 'The provider refused the credential.' },
  usage_limit: { again: false, message: 'The allowance of the account is used up.' },
  rate_limited: { again: true, message: 'The provider is busy with this account.' },
  model_error: { again: true, message: 'The provider could not answer.' },
  malformed: { again: true, message: 'The provider answered something unreadable.' },
  timeout: { again: true, message: 'The provider did not answer in time.' },
  too_large: { again: false, message: 'The request or its response is too large.' },
  cancelled: { again: false, message: 'The call was cancelled.' },
  sandbox_failed: { again: true, message: 'The model session ended without a response.' },
} as const;

export type FailureCode = keyof typeof FAILURES;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the closed list are its codes
export const failureCode = z.enum(Object.keys(FAILURES) as [FailureCode, ...FailureCode[]]);

export const failureDetails = z.strictObject({
  /** Time at which a `usage_limit` passes, in Unix milliseconds; null where the provider does not say. */
  resetAt: z.number().nullable().exactOptional(),
  /** The provider's own wish, from `Retry-After`. */
  retryAfterMs: z.number().min(0).nullable().exactOptional(),
  /** Status of the provider's response; null where there was none. */
  status: z.int().nullable().exactOptional(),
  /** False for a request that is itself at fault. */
  retryable: z.boolean().exactOptional(),
});

export type FailureDetails = Readonly<z.output<typeof failureDetails>>;

/** A call without a result; its message never holds anything that a provider or a person wrote. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly code: FailureCode;
  readonly details: FailureDetails;

  constructor(code: FailureCode, details: FailureDetails = {}) {
    super(FAILURES[code].message);
    this.code = code;
    this.details = details;
  }
}
