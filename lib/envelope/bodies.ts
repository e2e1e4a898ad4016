import { z } from 'zod';
import { SLOTS } from '#lib/provider-file/index.ts';
import type { Purpose } from './claims.ts';

/** A message in the form of the model library. The library checks the message in the session. */
const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']) });

/** Body of a model step. `hello`, `verify` and `catalog` have an empty body; `cancel` names the request. */
export const runBody = z.strictObject({
  modelId: z.string().min(1).max(300),
  instructions: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(
    z.strictObject({
      name: z.string().min(1).max(200),
      description: z.string(),
      /** JSON Schema of the tool's arguments. */
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
  maxOutputTokens: z.int().min(1).nullable(),
  /** JSON Schema of the response's text, for providers whose models can be made to follow a schema. */
  resultSchema: z.record(z.string(), z.unknown()).exactOptional(),
});

const tokens = z.int().min(0).max(1_000_000_000);

export const runResult = z.strictObject({
  text: z.string(),
  /** The assistant's part of the transcript, as the next step must send it back. */
  messages: z.array(message),
  toolCalls: z.array(
    z.strictObject({
      callId: z.string(),
      name: z.string(),
      input: z.unknown(),
      /**
       * True when no such tool exists or the arguments are unusable. `messages` already contain the refusal of the
       * call.
       */
      invalid: z.boolean(),
    }),
  ),
  finishReason: z.string(),
  usage: z.strictObject({
    inputTokens: tokens,
    cachedInputTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
  }),
});

export const helloResult = z.strictObject({
  instanceId: z.string(),
  /** The highest epoch that the runtime has seen; a new lease takes a higher epoch. */
  epoch: z.int().min(0),
  /** `process` isolates nothing: production refuses such a runtime. */
  sandbox: z.enum(['bubblewrap', 'process']),
  providers: z.partialRecord(z.enum(SLOTS), z.strictObject({ fileHash: z.string() })),
});

export const verifyResult = z.strictObject({
  /** `unchecked`: the provider could not decide, so nothing may be stored. */
  credential: z.enum(['accepted', 'rejected', 'unchecked']),
  /** True when the credential is good, but the account is empty or busy. */
  limited: z.boolean(),
  resetAt: z.number().nullable(),
});

export const catalogResult = z.strictObject({
  models: z.array(
    z.strictObject({
      id: z.string().min(1).max(300),
      name: z.string().max(300),
      contextTokens: z.int().min(1).nullable(),
    }),
  ),
});

export type RunBody = z.output<typeof runBody>;
export type RunResult = z.output<typeof runResult>;
export type HelloResult = z.output<typeof helloResult>;
export type VerifyResult = z.output<typeof verifyResult>;
export type CatalogResult = z.output<typeof catalogResult>;

interface Results {
  hello: HelloResult;
  verify: VerifyResult;
  catalog: CatalogResult;
  run: RunResult;
  /** True when the call was running. */
  cancel: { readonly cancelled: boolean };
}

export type ResultOf<P extends Purpose> = Results[P];

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
  malformed: { again: true, message: 'The response of the provider cannot be read.' },
  timeout: { again: true, message: 'The provider did not answer in time.' },
  too_large: { again: false, message: 'The request or its response is too large.' },
  cancelled: { again: false, message: 'The call was cancelled.' },
  sandbox_failed: { again: true, message: 'The model session ended without a response.' },
} as const;

export type FailureCode = keyof typeof FAILURES;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the closed list are its codes
export const failureCode = z.enum(Object.keys(FAILURES) as [FailureCode, ...FailureCode[]]);

export const failureDetails = z.strictObject({
  /** Time at which a `usage_limit` ends, in Unix milliseconds; null if the provider does not say. */
  resetAt: z.number().nullable().exactOptional(),
  /** The wait that the provider requests in `Retry-After`. */
  retryAfterMs: z.number().min(0).nullable().exactOptional(),
  /** Status of the provider's response; null without a response. */
  status: z.int().nullable().exactOptional(),
  /** False when the same request would fail again. */
  retryable: z.boolean().exactOptional(),
});

export type FailureDetails = Readonly<z.output<typeof failureDetails>>;

/** A call without a result; its message never contains words of a provider or a person. */
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
