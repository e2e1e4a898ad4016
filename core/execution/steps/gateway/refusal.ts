import { APICallError, NoSuchToolError } from 'ai';
import { tokenCount, type Usage } from '#core/foundation/cost/index.ts';
import type { ModelAbilities } from '#core/models/directory/index.ts';
import { isJsonObject, parseJson, type JsonObject } from '#lib/json.ts';
import { redactAuthorization } from '#lib/redact-authorization.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { ModelFailure } from '../stop.ts';
import { textFault } from './events.ts';

/** A response of a model server that says no, in its own words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** The server's words, cleaned; empty where it gave none. */
  readonly words: string;
  readonly retryAfter: string | undefined;
  /** Undefined where the refusal names no field that could be left out or sent otherwise. */
  readonly learned: ModelAbilities | undefined;
  readonly isOverflow: boolean;
  /** Output tokens for which the server says that there is room; undefined where it refused for another reason. */
  readonly outputLeft: number | undefined;
  /** True once a part of the response has come, which the provider may bill. */
  readonly begun: boolean;
  /** The usage that the server stated for what it has begun. */
  readonly usage: unknown;
  /** The finish reason of a response that broke off; undefined where it gave none. */
  readonly finishWord: string | undefined;

  constructor(
    refused: {
      readonly status: number;
      readonly body: string;
      readonly retryAfter?: string | undefined;
      readonly begun?: boolean;
      readonly usage?: unknown;
      readonly message?: string | undefined;
      readonly finishWord?: string | undefined;
    },
    request: { readonly body: string; readonly apiKey: string | undefined },
  ) {
    const { told, all } = readError(refused.body);
    super(refused.message ?? `The model provider answered ${refused.status}.`);
    this.status = refused.status;
    this.retryAfter = refused.retryAfter;
    this.begun = refused.begun === true;
    this.usage = refused.usage;
    this.finishWord = refused.finishWord;
    this.outputLeft = outputLeftIn(all, request.body);
    this.isOverflow = OVERFLOW.test(all) && this.outputLeft === undefined;
    this.learned = this.isOverflow ? undefined : learnFrom(refused.status, all, request.body);
    this.words = clean(told || all, request);
  }
}

/** Statuses by which servers refuse a field; llama.cpp and Ministral's template answer 500, OpenRouter 404. */
const REFUSING: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/**
 * The wordings of OpenAI, llama.cpp, vLLM, LiteLLM, Mistral, Anthropic, Gemini and Ollama for a prompt that is too
 * long.
 */
const OVERFLOW =
  /exceed_context_size|context_length_exceeded|context[ _-]?(length|size|window)|maximum (model|sequence|prompt) length|(prompt|input)[^.]{0,40} (is )?too (long|large)|too many (input )?tokens|token count[^.]{0,40}exceeds|exceeds? the (available|maximum) context/i;

/**
 * Returns what a refusal says of the model's server, from the fields that it names among those that were sent.
 * Source: the error texts that the servers send, as docs/models.md lists them.
 */
function learnFrom(status: number, said: string, sent: string): ModelAbilities | undefined {
  if (!REFUSING.has(status)) return undefined;
  const has = (field: string) => sent.includes(`"${field}":`);
  const most = MOST_OUTPUT.exec(said)?.[1];
  if (most !== undefined && LIMIT_FIELD.test(sent)) return { maxOutputTokens: Number(most) };
  const window = WINDOW.exec(said)?.[1];
  if (window !== undefined) return { contextTokens: Number(window) };
  if (/max_completion_tokens/.test(said) && has('max_tokens')) {
    return { outputLimit: 'max_completion_tokens' };
  }
  if (/max_completion_tokens/.test(said) && has('max_completion_tokens')) {
    return { outputLimit: 'max_tokens' };
  }
  if (/max_tokens/.test(said) && has('max_tokens')) return { outputLimit: 'none' };
  if (/stream_options|include_usage/i.test(said) && has('stream_options')) {
    return { streamUsage: false };
  }
  if (/parallel_tool_calls/.test(said) && has('parallel_tool_calls')) {
    return { parallelToolCallsField: false };
  }
  if (/(single|one|multiple|parallel) tool[-_ ]?calls?/i.test(said) && has('tool_calls')) {
    return { parallelToolCalls: false };
  }
  if (/response_?format|json_schema|structured[ _]outputs?/i.test(said) && has('response_format')) {
    return { structuredOutputs: false };
  }
  if (/\btools?=?[`'" ]/i.test(said) && has('tool_calls') && !has('tools')) {
    return { callsWithoutTools: false };
  }
  if (/reasoning/i.test(said) && /"reasoning(_content|_details)?":/.test(sent)) {
    return { reasoningBack: false };
  }
  if (/system (role|message|prompt)[^.]{0,40}(not|un)/i.test(said)) return { systemRole: false };
  if (/\bstream(ing|ed)?\b/i.test(said) && has('stream')) return { streaming: false };
  return undefined;
}

const MOST_OUTPUT = /at most (\d+) (?:completion|output) tokens/i;
const WINDOW = /maximum (?:context|model) length (?:is|of) (\d+)/i;
const LIMIT_FIELD = /"max(_completion)?_tokens":/;

/** Reads the room that is left where only the output limit was too large, as vLLM and OpenAI's older models word it. */
function outputLeftIn(said: string, sent: string): number | undefined {
  if (!LIMIT_FIELD.test(sent)) return undefined;
  const most = MOST_OUTPUT.exec(said)?.[1];
  if (most !== undefined) return Number(most);
  const window = WINDOW.exec(said)?.[1];
  const input = /(\d+) (?:input tokens|in the (?:messages|prompt))/i.exec(said)?.[1];
  const left = Number(window) - Number(input);
  return left >= MIN_LEFT ? left : undefined;
}

/** Output tokens below which a smaller limit is not worth a request. */
const MIN_LEFT = 256;

/**
 * Reads an error body of OpenAI's form, OpenRouter's, FastAPI's, Mistral's, plain text or a page.
 * @returns the words for a person, and everything that may name a field
 */
function readError(body: string): { readonly told: string; readonly all: string } {
  const value = parseJson(body);
  if (value === undefined) {
    // A body that was cut is no JSON any more.
    const begin = body.startsWith('{') ? /"(?:message|detail|msg)"\s*:\s*"/.exec(body) : null;
    const text = body
      .slice(begin === null ? 0 : begin.index + begin[0].length)
      .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
      .replaceAll(/<[^>]{0,500}>/g, ' ');
    return { told: text, all: text };
  }
  return { told: wordsIn(value, TOLD).join(' '), all: wordsIn(value, NAMING).join(' ') };
}

const TOLD = ['message', 'msg', 'detail', 'raw', 'metadata', 'error'];
const NAMING = ['type', 'code', 'param', 'loc', ...TOLD];

function wordsIn(value: unknown, names: readonly string[], depth = 0): string[] {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parseJson(value) : undefined;
    return inner === undefined ? [value] : wordsIn(inner, names, depth + 1);
  }
  if (depth > 5) return [];
  const within = (each: unknown) => wordsIn(each, names, depth + 1);
  if (Array.isArray(value)) return value.slice(0, 20).flatMap(within);
  if (!isJsonObject(value)) return [];
  return names.flatMap((name) => (name in value ? within(value[name]) : []));
}

/** Length at which a provider's words are cut. */
const MAX_WORDS = 500;

/** Takes keys, our own prompt and everything unprintable out of a provider's words, and cuts them. */
function clean(said: string, { body, apiKey }: { body: string; apiKey: string | undefined }): string {
  // Enough to find what has to go, wherever the cut is.
  const start = said.slice(0, 3 * MAX_WORDS);
  const printable = start.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  const withoutKey = apiKey === undefined ? printable : printable.replaceAll(apiKey, REDACTED);
  const redacted = redactAuthorization(withoutKey).replaceAll(KEY_LIKE, REDACTED);
  const quoted = withoutQuotes(redacted, promptOf(body));
  return quoted.length <= MAX_WORDS ? quoted : `${quoted.slice(0, MAX_WORDS - 1).toWellFormed()}…`;
}

const REDACTED = '[redacted]';

/** Keys as providers print them in errors, whole or masked. */
const KEY_LIKE = /\b(?:sk|pk|rk|gsk|xai|AIza|key|hf)[-_][\w*.-]{6,}/g;

/** Characters that stand in the prompt as well are a quotation of it from this length on. */
const QUOTE = 32;

/** Returns all texts of a request as one, spaced as the words are. */
function promptOf(body: string): string {
  const request = parseJson(body);
  const messages = isJsonObject(request) ? request['messages'] : undefined;
  return wordsIn(messages, ['content', 'text'])
    .join(' ')
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ');
}

function withoutQuotes(words: string, prompt: string): string {
  let result = '';
  for (let at = 0; at < words.length;) {
    let length = 0;
    if (prompt.includes(words.slice(at, at + QUOTE)) && at + QUOTE <= words.length) {
      length = QUOTE;
      while (at + length < words.length && prompt.includes(words.slice(at, at + length + 1))) length += 1;
    }
    result += length === 0 ? (words[at] ?? '') : '[…]';
    at += length === 0 ? 1 : length;
  }
  return result;
}

/** Converts any error of the model library into a failure with a reason of the closed list. */
export function toModelFailure(error: unknown, apiKey?: string): ModelFailure {
  const ours = causeOf(error, ModelFailure);
  if (ours !== undefined) return ours;
  const refusal = causeOf(error, Refusal);
  if (refusal !== undefined) return fromRefusal(refusal);
  if (APICallError.isInstance(error) && error.statusCode === undefined) {
    return new ModelFailure('model_unreachable', 'The model provider could not be reached.', {
      retryable: true,
      isStarting: causes(error).some((cause) => 'code' in cause && cause.code === 'ECONNREFUSED'),
    });
  }
  const said = wordsInstead(error, apiKey);
  if (said?.status !== undefined && said.status !== 200) return fromRefusal(said);
  const [reason, message] = reasonAndWords(error);
  return new ModelFailure(reason, message, { retryable: true, words: said?.words ?? '' });
}

/** Reads a text that came instead of a completion as the server's words; a part of a completion is none. */
function wordsInstead(error: unknown, apiKey: string | undefined): Refusal | undefined {
  if (!APICallError.isInstance(error)) return undefined;
  const { responseBody = '', requestBodyValues } = error;
  if (responseBody.trim() === '' || /^\s*[{[]/.test(responseBody)) return undefined;
  const { body, status = 200 } = textFault(responseBody);
  return new Refusal({ status, body }, { body: JSON.stringify(requestBodyValues), apiKey });
}

function reasonAndWords(error: unknown): [ModelFailure['reason'], string] {
  if (NoSuchToolError.isInstance(error)) {
    return ['model_malformed', 'The model asked for a tool that does not exist.'];
  }
  const name = error instanceof Error ? error.name : '';
  const isCall = APICallError.isInstance(error);
  if (!isCall && /Timeout/.test(name)) {
    return ['model_unreachable', 'The model provider did not answer in time.'];
  }
  if (isCall || UNREADABLE.test(name)) {
    return ['model_malformed', 'The model provider answered something unreadable.'];
  }
  return ['model_unreachable', 'The model provider broke off the call.'];
}

const UNREADABLE = /JSONParse|TypeValidation|InvalidResponse|NoContent|EmptyResponse|NoOutput/;

/** Finds an error of a class among an error and its causes. */
export function causeOf<T extends Error>(error: unknown, kind: new (...args: never[]) => T): T | undefined {
  return causes(error).find((cause): cause is T => cause instanceof kind);
}

/** Returns the error and its causes: the library wraps what our own fetch throws in errors of its own. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

function fromRefusal(refusal: Refusal): ModelFailure {
  const { status, message, words, isOverflow, begun, retryAfter, usage, finishWord } = refusal;
  const retryAfterMs = parseRetryAfter(retryAfter, { now: new Date(), maxMs: MAX_RETRY_AFTER_MS });
  const settled = { cutOff: begun, finishWord, ...(isJsonObject(usage) ? { usage: usageIn(usage) } : {}) };
  if (isOverflow) return new ModelFailure('context_exceeded', message, { retryable: false, words });
  if (status === 429) {
    return new ModelFailure('model_rate_limited', message, { retryable: true, retryAfterMs, words, ...settled });
  }
  // 408, 409 and 5xx are temporary; any other 4xx means that this request or our key is wrong.
  return new ModelFailure(reasonOf(status), message, {
    retryable: status >= 500 || status === 408 || status === 409,
    retryAfterMs,
    words,
    ...settled,
    isStarting: status === 503,
  });
}

function usageIn(stated: JsonObject): Usage {
  return {
    inputTokens: tokenCount(Number(stated['prompt_tokens'])),
    cachedInputTokens: 0,
    outputTokens: tokenCount(Number(stated['completion_tokens'])),
    reasoningTokens: 0,
    estimated: false,
  };
}

/**
 * Returns the reason for a status: 401, 402 and 403 are about the operator's key at the gateway, not about what a
 * routine asks for.
 */
function reasonOf(status: number): 'model_error' | 'model_refused' | 'model_key_refused' {
  if (status >= 401 && status <= 403) return 'model_key_refused';
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return refused ? 'model_refused' : 'model_error';
}

/** Longest delay by which a provider can postpone a step. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;
