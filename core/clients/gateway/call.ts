import type { ModelMessage } from 'ai';
import type { JsonObject } from '#lib/json.ts';
import type { Effort, ModelAbilities } from './abilities.ts';
import type { CallInput, CallUsage, TokenBounds } from './tokens.ts';

/** A request to a model, before it is fitted to the model's server. */
export interface GatewayCall extends CallInput, TokenBounds {
  /** Abilities that the server is known to have. */
  readonly abilities?: ModelAbilities | undefined;
  /** Undefined leaves it to the model. */
  readonly effort?: Effort | undefined;
  /** True if nothing depends on `maxOutputTokens`, so that a server that refuses the limit may do without. */
  readonly limitMayGo?: boolean | undefined;
  /** True for a call that tests earlier lessons again. */
  readonly afresh?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called when the request goes out, after which it may be billed. */
  readonly onSend?: (() => void) | undefined;
  /** Called when a streamed response begins, with a function that returns its text so far, without thinking. */
  readonly onStream?: ((text: () => string) => void) | undefined;
}

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  /** Arguments of the call; their text when they are unusable. */
  readonly input: unknown;
  /** True when there is no such tool or its arguments are unusable; the response's own messages already refuse it. */
  readonly invalid: boolean;
}

export interface GatewayResponse {
  readonly text: string;
  /** The assistant's part of the transcript, in the form in which the next request sends it back. */
  readonly messages: readonly ModelMessage[];
  readonly toolCalls: readonly ToolCallRequest[];
  readonly finishReason: string;
  readonly usage: CallUsage;
}

/** A model by its server's own id. */
export interface ServedModel {
  readonly source: string;
  readonly modelId: string;
}

/** Leaves out the name of a schema's dialect, for which Gemini refuses the whole request. */
export function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...others } = schema;
  return others;
}
