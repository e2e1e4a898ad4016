import { z } from 'zod';
import { SLOTS } from '#lib/provider-file/index.ts';
import type { Purpose } from './claims.ts';

/** A message as the model library has it; the session gives it to the library, which checks it. */
const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']) });

/** One model step. `hello`, `verify` and `catalog` have an empty body; `cancel` names the request. */
export const runBody = z.strictObject({
  modelId: z.string().min(1).max(300),
  instructions: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(
    z.strictObject({
      name: z.string().min(1).max(200),
      description: z.string(),
      /** JSON Schema of the arguments. */
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
  maxOutputTokens: z.int().min(1).nullable(),
  /** JSON Schema of the text, where the provider's models can be held to one. */
  resultSchema: z.record(z.string(), z.unknown()).exactOptional(),
});

const tokens = z.int().min(0).max(1_000_000_000);

export const runResult = z.strictObject({
  text: z.string(),
  /** The assistant's part of the transcript, as the next step has to send it back. */
  messages: z.array(message),
  toolCalls: z.array(
    z.strictObject({
      callId: z.string(),
      name: z.string(),
      input: z.unknown(),
      /** True when there is no such tool or its arguments are unusable; `messages` already hold the result. */
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
  /** The highest that the runtime has seen; a new lease takes a higher one. */
  epoch: z.int().min(0),
  /** `process` isolates nothing: production refuses such a runtime. */
  sandbox: z.enum(['bubblewrap', 'process']),
  providers: z.partialRecord(z.enum(SLOTS), z.strictObject({ fileHash: z.string() })),
});

export const verifyResult = z.strictObject({
  /** `unchecked`: the provider could not say; nothing is to be stored. */
  credential: z.enum(['accepted', 'rejected', 'unchecked']),
  /** The credential is good, and the account is empty or busy. */
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
  /** True when such a call was running. */
  cancel: { readonly cancelled: boolean };
}

export type ResultOf<P extends Purpose> = Results[P];
