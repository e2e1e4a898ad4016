import type { ModelMessage } from 'ai';
import type { JsonObject } from '#lib/json.ts';
import type { Effort, ModelAbilities } from './abilities.ts';
import type { CallInput, CallUsage, TokenBounds } from './tokens.ts';

/** A request to a model, before it is fitted to the model's server. */
export interface GatewayCall extends CallInput, TokenBounds {
  /** Abilities that the server is known to have. */
  readonly abilities?: ModelAbilities | undefined;
  /** Effort of the model; undefined leaves the effort to the model. */
  readonly effort?: Effort | undefined;
  /**
   * True if the response may be longer than `maxOutputTokens`. If the server refuses the limit, the request is sent
   * without it.
   */
  readonly limitMayGo?: boolean | undefined;
  /** True for a call that ignores earlier lessons, to test whether they still apply. */
  readonly afresh?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called when the request is sent: from then on the call may be billed. */
  readonly onSend?: (() => void) | undefined;
  /** Called when a streamed response begins, with a function that returns its text so far, without thinking. */
  readonly onStream?: ((text: () => string) => void) | undefined;
}

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  /** Arguments of the call; their text when they are unusable. */
  readonly input: unknown;
  /**
   * True when no such tool exists or the arguments are unusable. The messages of the response already refuse the call.
   */
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

/** A model, under the id that its server uses. */
export interface ServedModel {
  readonly source: string;
  readonly modelId: string;
}

/** Removes `$schema`, the name of the schema's dialect, because Gemini would refuse the whole request. */
export function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...others } = schema;
  return others;
}
